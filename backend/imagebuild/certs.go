package imagebuild

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"loop/backend/atomicfile"
)

// maxCAFile bounds a certificate file; the largest public bundles have a few
// hundred KiB.
const maxCAFile = 4 << 20

// LocalCADir is where an administrator of Debian and its kin puts certificates
// that this machine shall trust besides the usual ones.
const LocalCADir = "/usr/local/share/ca-certificates"

// caFiles lists the certificate files a build gets: those of the settings, and
// the ones that this machine's programs trust, since the build meets a proxy that
// inspects TLS here as well.
func caFiles(fromSettings []string, getenv func(string) string, localDir string) []string {
	out := slices.Clone(fromSettings)
	if localDir != "" {
		local, _ := filepath.Glob(filepath.Join(localDir, "*.crt")) // the pattern is ours, so it cannot be malformed
		out = append(out, local...)
	}
	for _, name := range []string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"} {
		if p := getenv(name); p != "" && !slices.Contains(out, p) {
			if _, err := os.Stat(p); err == nil {
				out = append(out, p)
			}
		}
	}
	return out
}

// collectCerts reads PEM files and returns each certificate once, as a file of
// its own (update-ca-certificates skips a file that holds several). What cannot
// be used is named in notes and left out.
func collectCerts(paths []string) (certs map[string][]byte, notes []string) {
	certs = map[string][]byte{}
	for _, p := range paths {
		raw, _, err := atomicfile.Read(p, maxCAFile)
		if err != nil {
			notes = append(notes, fmt.Sprintf("Certificate file %s is left out: %v", p, err))
			continue
		}
		found := 0
		for len(raw) > 0 {
			var block *pem.Block
			block, raw = pem.Decode(raw)
			if block == nil {
				break
			}
			if block.Type != "CERTIFICATE" {
				continue // a key, say: never goes into an image
			}
			if _, err := x509.ParseCertificate(block.Bytes); err != nil {
				continue
			}
			found++
			sum := sha256.Sum256(block.Bytes)
			certs["loop-"+hex.EncodeToString(sum[:8])+".crt"] = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: block.Bytes})
		}
		if found == 0 {
			notes = append(notes, fmt.Sprintf("Certificate file %s is left out: it holds no certificate", p))
		}
	}
	return certs, notes
}

// ReadCAFile returns the certificates that a build takes from a file, in PEM; an
// error says why it leaves the file out.
func ReadCAFile(p string) ([]byte, error) {
	certs, notes := collectCerts([]string{p})
	if len(notes) > 0 {
		return nil, errors.New(notes[0])
	}
	return bytes.Join(slices.Collect(maps.Values(certs)), nil), nil
}
