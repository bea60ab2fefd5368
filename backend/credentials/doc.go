// Package credentials keeps the keys of models where the system keeps secrets:
// the Secret Service, the macOS Keychain or the Windows Credential Manager, and
// where none of them works, in an encrypted file in Loop's folder. A value
// leaves it only as a core.Secret. Only packages daemon and settings may import it.
package credentials
