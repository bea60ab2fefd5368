package imagebuild

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/engine/enginetest"
)

// testBundle makes n certificates and a private key in one PEM text.
func testBundle(t *testing.T, n int) []byte {
	t.Helper()
	var buf bytes.Buffer
	for i := range n {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		tpl := &x509.Certificate{SerialNumber: big.NewInt(int64(i + 1)), NotAfter: time.Now().Add(time.Hour)}
		der, err := x509.CreateCertificate(rand.Reader, tpl, tpl, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := x509.MarshalECPrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		_ = pem.Encode(&buf, &pem.Block{Type: "CERTIFICATE", Bytes: der})
		_ = pem.Encode(&buf, &pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})
	}
	return buf.Bytes()
}

func TestCollectCerts(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	bundle := testBundle(t, 3)
	a, b := write("a.pem", bundle), write("b.pem", bundle)
	bad := write("bad.pem", []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	big := write("big.pem", bytes.Repeat([]byte("x"), maxCAFile+1))
	certs, notes := collectCerts([]string{a, b, bad, big, filepath.Join(dir, "none")})
	if len(certs) != 3 {
		t.Errorf("%d certificates, want each of the 3 once", len(certs))
	}
	for name, c := range certs {
		if !strings.HasSuffix(name, ".crt") || bytes.Count(c, []byte("BEGIN")) != 1 || bytes.Contains(c, []byte("PRIVATE")) {
			t.Errorf("%s holds\n%s", name, c)
		}
	}
	if len(notes) != 3 {
		t.Errorf("notes %q, want one each for the bad, the big and the missing file", notes)
	}
}

func TestCAFilesFromEnvironment(t *testing.T) {
	p := filepath.Join(t.TempDir(), "ca")
	if err := os.WriteFile(p, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"SSL_CERT_FILE": p, "NODE_EXTRA_CA_CERTS": p + "-absent"}
	got := caFiles([]string{"mine"}, func(k string) string { return env[k] }, t.TempDir())
	if !slices.Equal(got, []string{"mine", p}) {
		t.Fatalf("got %v", got)
	}
}

func TestProxyArgs(t *testing.T) {
	env := map[string]string{"HTTP_PROXY": "http://127.0.0.1:3128", "https_proxy": "http://proxy.example:3128", "NO_PROXY": "localhost,.example"}
	got := proxyArgs(func(k string) string { return env[k] })
	if len(got) != 2 || got["https_proxy"] == "" || got["NO_PROXY"] == "" {
		t.Fatalf("got %v; a proxy on this machine's loopback cannot be reached from a build", got)
	}
}

func TestBuildProgress(t *testing.T) {
	kit := []string{
		"#1 [internal] load build definition from Dockerfile", "#5 [base 1/3] FROM docker.io/library/debian:bookworm-slim",
		"#6 [base 2/3] COPY ca/ …", "#7 [base 3/3] RUN set -eu", "#7 1.2 Reading package lists...",
		"#8 [claude 1/2] COPY install-claude.sh /tmp/", "#9 [claude 2/2] RUN sh", "#10 [stage-2 1/2] COPY --from=claude", "#11 [stage-2 2/2] RUN",
		"#12 [x 99999999999999999999/1] odd", "#13 [y 5/2] odd", "#14 [z 0/0] odd",
	}
	classic := []string{"Sending", "Step 1/12 : FROM x", " ---> 1", "Step 3/0 : x", "Step 6/12 : RUN x", "Removing intermediate container", "Step 11/12 : RUN"}
	for counts, lines := range map[int][]string{kitStages: kit, 1: classic} {
		p := buildProgress{counts: counts, steps: map[string][2]int{}}
		var last float64
		for _, l := range lines {
			at := p.line(l)
			if at < 0 || at >= 1 {
				t.Fatalf("%q gives %f", l, at)
			}
			last = max(last, at)
		}
		if last < 0.5 {
			t.Errorf("the end gives only %f", last)
		}
	}
}

func TestLinesAreBounded(t *testing.T) {
	r := &reporter{s: bare(Options{Engine: enginetest.NewFake()})}
	r.line("10%\r20%\r100%\r\n")
	r.line(strings.Repeat("é", maxLine))
	r.line("bad \xff utf8")
	r.line("   ")
	for range 3 * keptLines {
		r.line("x")
	}
	got := r.said().Lines
	if len(got) != keptLines {
		t.Errorf("%d lines kept", len(got))
	}
	for _, l := range got {
		if len(l) > maxLine+len("…") {
			t.Errorf("line of %d bytes", len(l))
		}
	}
}

func TestPackTree(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // bases are made on Linux only
	}
	root := t.TempDir()
	for name, mode := range map[string]os.FileMode{"bin/tool": 0o755, "dev/null": 0o644, "etc/shadow": 0o600} {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("tool", filepath.Join(root, "bin/link")); err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if err := runCommand(t.Context(), packTree(root, &buf)); err != nil {
		t.Fatal(err)
	}
	names := map[string]*tar.Header{}
	for tr := tar.NewReader(&buf); ; {
		h, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" {
			t.Errorf("%s belongs to %d:%d %q", h.Name, h.Uid, h.Gid, h.Uname)
		}
		names[strings.TrimPrefix(h.Name, "./")] = h
	}
	if names["dev/null"] != nil || names["dev/"] == nil || names["bin/tool"] == nil {
		t.Errorf("packed %v", names)
	}
	if names["bin/link"] == nil || names["bin/link"].Linkname != "tool" {
		t.Error("the link is not a link")
	}
}

func TestRunCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // the rest needs a POSIX shell
	}
	var lines []string
	err := runCommand(t.Context(), Command{Path: "/bin/sh", Args: []string{"-c", "echo one; echo two >&2; echo $X"}, Env: []string{"X=three"},
		Line: func(l string) { lines = append(lines, strings.TrimSpace(l)) }})
	if err != nil || !slices.Equal(lines, []string{"one", "two", "three"}) {
		t.Fatalf("%v, %q", err, lines)
	}
	if err := runCommand(t.Context(), Command{Path: "/bin/sh", Args: []string{"-c", "exit 3"}}); err == nil {
		t.Fatal("a failing command succeeded")
	}
	// Cancelling ends the command and the processes that it started.
	ctx, cancel := context.WithCancel(t.Context())
	err = runCommand(ctx, Command{Path: "/bin/sh", Args: []string{"-c", "sleep 600 & echo ready; wait"},
		Line: func(string) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled: %v", err)
	}
}

func TestBaseIsMadeWithoutARegistry(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // this case needs a Linux host
	}
	r := newRig(t, Options{Base: "absent:x"})
	find := func(name string) (string, error) { return "/found/" + name, nil }
	r.s.find = find
	r.fake.Main = func(context.Context, core.Spec, io.Writer) int { return 0 } // the second stage
	r.cli = func(_ context.Context, c Command) error {
		if c.Path == "tar" {
			return nil
		}
		if !strings.Contains(c.Path+strings.Join(c.Args, " "), "debootstrap --foreign") && !slices.Contains(c.Args, "--foreign") {
			t.Errorf("ran %s %q", c.Path, c.Args)
		}
		c.Line("I: Extracting base-files...")
		return os.MkdirAll(filepath.Join(c.Args[len(c.Args)-2], "debootstrap"), 0o755)
	}
	if err := r.s.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.wantState(core.ImageReady)
	if _, _, err := r.fake.ImageInspect(t.Context(), ownBaseRef); err != nil {
		t.Error(err)
	}
	if list, _ := r.fake.List(t.Context(), nil); len(list) != 0 {
		t.Errorf("helper containers left: %v", list)
	}
	n := len(r.commands)
	if err := r.s.Build(t.Context()); err != nil || len(r.commands) != n {
		t.Errorf("the base was made again: %v", err)
	}
}

func TestBaseFailures(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // this case needs a Linux host
	}
	boom := errors.New("exit status 1")
	for name, breakIt := range map[string]func(*rig){
		"program missing": func(r *rig) {
			r.s.find = func(string) (string, error) { return "", errors.New("the program is not installed") }
		},
		"first stage fails":  func(r *rig) { r.cli = func(context.Context, Command) error { return boom } },
		"second stage fails": func(r *rig) { r.fake.Main = func(context.Context, core.Spec, io.Writer) int { return 1 } },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{Base: "absent:x"})
			r.s.find = func(name string) (string, error) { return "/found/" + name, nil }
			r.cli = func(_ context.Context, c Command) error {
				if c.Path == "tar" {
					return nil
				}
				return os.MkdirAll(c.Args[len(c.Args)-2], 0o755)
			}
			breakIt(r)
			wantCode(t, r.s.Build(t.Context()), core.CodeImageBuild)
			if _, _, err := r.fake.ImageInspect(t.Context(), ownBaseRef); !errors.Is(err, core.ErrNoImage) {
				t.Errorf("a half-made base has a name: %v", err)
			}
			if list, _ := r.fake.List(t.Context(), nil); len(list) != 0 {
				t.Errorf("helper containers left: %v", list)
			}
		})
	}
}

func TestLocalCertificatesAreGiven(t *testing.T) {
	dir := t.TempDir()
	company := filepath.Join(dir, "company.crt")
	if err := os.WriteFile(company, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "README"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := caFiles(nil, func(string) string { return "" }, dir); len(got) != 1 || got[0] != company {
		t.Errorf("%q", got)
	}
}
