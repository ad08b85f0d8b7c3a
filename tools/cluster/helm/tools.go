//go:build tools

// Package tools pins the programs of a test cluster; nothing imports it.
package tools

import (
	_ "helm.sh/helm/v3/cmd/helm"
)
