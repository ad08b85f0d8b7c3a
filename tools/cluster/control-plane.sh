# shellcheck shell=bash
# etcd and the three programs of Kubernetes' control plane, in the namespace $ctl.

start_api_server() {
  local pki=$state/pki
  mkdir -p "$state/etcd" "$state/audit"
  cat >"$state/audit/policy.yaml" <<'YAML'
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
YAML
  # The data does not outlive the cluster: etcd need not wait for the disk.
  start etcd "$ctl" "$bin/etcd" --data-dir "$state/etcd" --unsafe-no-fsync --log-level warn \
    --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380
  start kube-apiserver "$ctl" "$bin/kube-apiserver" \
    --etcd-servers http://127.0.0.1:2379 \
    --advertise-address "$api_address" --bind-address 0.0.0.0 --secure-port 6443 \
    --service-cluster-ip-range "$service_range" \
    --client-ca-file "$pki/ca.crt" \
    --tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key" \
    --service-account-issuer https://kubernetes.default.svc \
    --service-account-key-file "$pki/service-accounts.pub" \
    --service-account-signing-key-file "$pki/service-accounts.key" \
    --authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction --allow-privileged \
    --kubelet-client-certificate "$pki/apiserver-kubelet-client.crt" \
    --kubelet-client-key "$pki/apiserver-kubelet-client.key" \
    --kubelet-certificate-authority "$pki/ca.crt" \
    --kubelet-preferred-address-types InternalIP \
    --audit-policy-file "$state/audit/policy.yaml" --audit-log-path "$state/audit/log.json"
}

await_api_server() {
  await 90 kube-apiserver in_ctl_kubectl get --raw /readyz
}

# The other two give up when the API server does not answer yet, so they come after it.
# No node ranges are handed out: a node's pod range follows from its number, and its routes are set.
start_controllers() {
  local pki=$state/pki
  start kube-controller-manager "$ctl" "$bin/kube-controller-manager" \
    --kubeconfig "$pki/controller-manager.conf" \
    --authentication-kubeconfig "$pki/controller-manager.conf" \
    --authorization-kubeconfig "$pki/controller-manager.conf" \
    --service-account-private-key-file "$pki/service-accounts.key" --root-ca-file "$pki/ca.crt" \
    --use-service-account-credentials --leader-elect=false --allocate-node-cidrs=false \
    --kube-api-qps 200 --kube-api-burst 400 # by default its own start is slowed down by 4 s
  start kube-scheduler "$ctl" "$bin/kube-scheduler" \
    --kubeconfig "$pki/scheduler.conf" \
    --authentication-kubeconfig "$pki/scheduler.conf" --authorization-kubeconfig "$pki/scheduler.conf" \
    --leader-elect=false
}

# Pods are refused until their namespace has its service account.
await_controllers() {
  await 60 kube-controller-manager in_ctl_kubectl get serviceaccount default
}
