package agentimage

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"loop/backend/core"
)

func TestWithoutSecrets(t *testing.T) {
	full := Agent.Files()[Dockerfile]
	plain := WithoutSecrets(full)
	if n := bytes.Count(full, []byte("--mount=type=secret")); n != 3 {
		t.Fatalf("the Dockerfile has %d secret mounts, want one for each step that downloads", n)
	}
	if bytes.Contains(plain, []byte("--mount")) {
		t.Fatalf("a mount is left:\n%s", plain)
	}
	for _, want := range []string{"RUN set -eu; \\\n    rm -f", "RUN sh /tmp/install-claude.sh"} {
		if !strings.Contains(string(plain), want) {
			t.Errorf("plain text lacks %q:\n%s", want, plain)
		}
	}
	if got, want := bytes.Count(plain, []byte("\nRUN ")), bytes.Count(full, []byte("\nRUN ")); got != want {
		t.Errorf("%d RUN lines, want %d", got, want)
	}
}

func TestDockerfile(t *testing.T) {
	text := string(Agent.Files()[Dockerfile])
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.ToLower(strings.ReplaceAll(line, " ", "")), "#syntax=") {
			t.Error("a syntax line makes every build fetch a front end")
		}
	}
	// Without it only the last command of a step tells whether the step failed.
	for _, step := range strings.Split(text, "\nRUN ")[1:] {
		for strings.HasPrefix(step, "--mount") {
			_, step, _ = strings.Cut(step, "\\\n")
			step = strings.TrimSpace(step)
		}
		if first, rest, several := strings.Cut(step, "\\\n"); several && rest != "" && !strings.HasPrefix(first, "set -eu;") {
			t.Errorf("a step of several commands begins with %q", first)
		}
	}
	for _, want := range []string{"FROM ${BASE} AS base", "COPY ca/", "update-ca-certificates", "NODE_EXTRA_CA_CERTS", "/opt/loop/bin"} {
		if !strings.Contains(text, want) {
			t.Errorf("the Dockerfile lacks %q", want)
		}
	}
	// Every stage starts from base, directly or through another stage.
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "FROM "); ok && !strings.HasPrefix(rest, "${BASE}") && !strings.HasPrefix(rest, "base") {
			t.Errorf("stage without the extra certificates: %s", line)
		}
	}
}

// TestSandboxDockerfile: what comes from a person's parameters reaches a shell only as the
// value of a variable, and a step whose first command fails, fails.
func TestSandboxDockerfile(t *testing.T) {
	r := Sandbox("sandbox image", SandboxRef)
	text := string(r.Files()[Dockerfile])
	if strings.Contains(strings.ToLower(text), "# syntax") {
		t.Error("a syntax line makes every build fetch a front end")
	}
	plain := string(WithoutSecrets([]byte(text)))
	if strings.Contains(plain, "--mount") || strings.Count(plain, "\nRUN set -eu;") != strings.Count(text, "\nRUN ") {
		t.Errorf("without secrets:\n%s", plain)
	}
	for _, want := range []string{"FROM ${BASE}", "COPY ca/", "${PACKAGES}", `"${FINAL_USER}"`, `"${INSTALL_BREW}"`, "command -v claude", "USER ${FINAL_USER}", `["sleep", "infinity"]`} {
		if !strings.Contains(text, want) {
			t.Errorf("the Dockerfile lacks %q", want)
		}
	}
	if r.Hash(nil) == Agent.Hash(nil) || r.Part == Agent.Part {
		t.Error("it passes for the agent image")
	}
}

func TestHash(t *testing.T) {
	h := Agent.Hash(nil)
	if len(h) != 16 || h != Agent.Hash(nil) {
		t.Fatalf("hash %q", h)
	}
	if one := Agent.Hash([]string{"vim"}); one == h || one == Agent.Hash([]string{"nano"}) {
		t.Error("an image without a part has the hash of another")
	}
	if Agent.Hash([]string{"vim", "nano"}) != Agent.Hash([]string{"nano", "vim"}) {
		t.Error("the hash depends on the order of the parts")
	}
}

func TestGuestBinaryUnknownArch(t *testing.T) {
	_, _, err := GuestBinary("s390x")
	if f, ok := errors.AsType[*core.Failure](err); !ok || f.Remedy == "" {
		t.Fatalf("got %v", err)
	}
}
