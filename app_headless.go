//go:build !desktop

package main

import (
	"context"

	"loop/backend/daemon"
)

// openWindow is what the desktop build has; this binary serves browsers.
var openWindow func(ctx context.Context, opts daemon.Options) error
