//go:build tools

// Package tools pins the programs of a test cluster; nothing imports it.
package tools

import (
	_ "go.etcd.io/etcd/server/v3"
)
