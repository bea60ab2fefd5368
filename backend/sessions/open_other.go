//go:build !unix

package sessions

const openFlags = 0
