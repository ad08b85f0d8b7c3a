# shellcheck shell=bash
# One certificate authority and what it signs. Keys are P-256: made in milliseconds.

make_pki() {
  mkdir -p "$state/pki"
  cd "$state/pki" || return
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=pawl-test-ca \
    -keyout ca.key -out ca.crt
  openssl ecparam -genkey -name prime256v1 -noout -out service-accounts.key
  openssl ec -in service-accounts.key -pubout -out service-accounts.pub
  certificate apiserver /CN=kube-apiserver \
    "IP:$api_address,IP:127.0.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc"
  certificate apiserver-kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client
  client admin /O=system:masters/CN=admin
  client controller-manager /CN=system:kube-controller-manager
  client scheduler /CN=system:kube-scheduler
  client proxy /CN=system:kube-proxy
  cd "$repo" || return
}

# node_pki I: what the node's kubelet shows to the API server, and to those who call it.
node_pki() {
  cd "$state/pki" || return
  client "kubelet$1" "/O=system:nodes/CN=system:node:$(node_name "$1")" "DNS:$(node_name "$1"),IP:$(node_address "$1")"
  cd "$repo" || return
}

# certificate NAME SUBJECT [ALTERNATIVE NAMES] → NAME.key NAME.crt in the current folder
certificate() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "$2" -keyout "$1.key" -out "$1.csr"
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -set_serial "$((SRANDOM))" -days 30 -out "$1.crt" \
    -extfile <(printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "${3:-DNS:$1}")
  rm "$1.csr"
}

# client: a certificate with a kubeconfig NAME.conf that carries everything in itself.
client() {
  certificate "$@"
  cat >"$1.conf" <<YAML
apiVersion: v1
kind: Config
clusters:
- name: pawl
  cluster: {server: "https://$api_address:6443", certificate-authority-data: $(base64 -w0 ca.crt)}
users:
- name: $1
  user: {client-certificate-data: $(base64 -w0 "$1.crt"), client-key-data: $(base64 -w0 "$1.key")}
contexts:
- name: pawl
  context: {cluster: pawl, user: $1}
current-context: pawl
YAML
}
