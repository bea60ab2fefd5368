//go:build docker

package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"loop/backend/core"
)

// BenchmarkExecTTY measures a terminal in a foreign container: 32 MiB of lines, and one
// key there and back. The comparison is the docker command with its output in a pipe,
// on the same container in the same run.
func BenchmarkExecTTY(b *testing.B) {
	d, err := Connect(b.Context(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = d.Close() })
	id := foreignBox(b, d, nil)
	const size = 32 << 20
	flood := []string{"sh", "-c", fmt.Sprintf("yes %s | head -c %d", strings.Repeat("x", 79), size)}
	const cooked = size + size/80 // each newline gets a carriage return
	b.Run("loop", func(b *testing.B) {
		b.SetBytes(cooked)
		buf := make([]byte, 32<<10)
		for b.Loop() {
			p, err := d.ExecTTY(b.Context(), id, core.ExecSpec{Argv: flood})
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			for err == nil {
				var m int
				m, err = p.Read(buf)
				n += m
			}
			if !errors.Is(err, io.EOF) || n < size {
				b.Fatal(n, err)
			}
			b.StopTimer() // the comparison has nothing to end
			if err := p.Close(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
	b.Run("docker exec -t", func(b *testing.B) {
		docker, err := exec.LookPath("docker")
		if err != nil {
			b.Fatal("no docker command here")
		}
		host, _ := d.Host()
		b.SetBytes(cooked)
		for b.Loop() {
			cmd := exec.CommandContext(b.Context(), docker, append([]string{"exec", "-t", string(id)}, flood...)...)
			cmd.Env = append(os.Environ(), "DOCKER_HOST="+host)
			out, err := cmd.StdoutPipe()
			if err != nil {
				b.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{out}, make([]byte, 32<<10))
			if err != nil || n < size {
				b.Fatal(n, err)
			}
			if err := cmd.Wait(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("round trip", func(b *testing.B) {
		p, err := d.ExecTTY(b.Context(), id, core.ExecSpec{Argv: []string{"sh", "-c", "stty raw -echo; echo; exec cat"}})
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = p.Close() }()
		buf := make([]byte, 1)
		if _, err := io.ReadFull(p, buf); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := p.Write([]byte("x")); err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(p, buf); err != nil {
				b.Fatal(err)
			}
		}
	})
}
