// Package daemon assembles Loop: New reads as the start order, Close as its
// reverse. It alone knows every adapter and reads the configuration; services
// are handed values. Only cli and main import it.
package daemon
