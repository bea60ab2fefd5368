package core

import "errors"

// Sentinels that cross package borders; test with errors.Is.
var (
	ErrNotFound   = errors.New("not found")
	ErrConflict   = errors.New("conflict")
	ErrLinkDown   = errors.New("link down")
	ErrNoImage    = errors.New("image not found")
	ErrNotRunning = errors.New("container not running")
)
