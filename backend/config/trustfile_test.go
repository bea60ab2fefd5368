package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"loop/backend/core"
)

func TestTrustRemembers(t *testing.T) {
	path := filepath.Join(t.TempDir(), TrustFileName)
	g := global(t, `{}`)
	dir := project(t, t.TempDir(), "{\n  \"mounts\": [\"a-b:/a\"],\n  \"anthropic_api_key\": \"sk-CANARY\"\n}\n")
	trust := OpenTrust(path)
	e := ForDir(g, trust, dir+"/", "")
	p := e.Pending[0]
	if !strings.Contains(p.Diff, "+  \"mounts\": [\"a-b:/a\"],") || strings.Contains(p.Diff, "CANARY") || p.Path != ProjectPath(dir) {
		t.Errorf("%+v", p)
	}
	if err := trust.Approve(ProjectFile(dir), strings.Repeat("0", 64)); !errors.Is(err, core.ErrConflict) || core.AsFailure(err).Code != core.CodeConflict {
		t.Errorf("another sum: %v", err)
	}
	if err := trust.Approve(ProjectFile(dir), p.SHA256); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(data), "CANARY") || !strings.Contains(string(data), Hidden) {
		t.Errorf("%s %v", data, err)
	}
	if info, _ := os.Stat(path); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	trust = OpenTrust(path) // the next start
	e = ForDir(g, trust, dir, "")
	if len(e.Pending) != 0 || len(e.Config.Mounts) != 1 || e.Config.AnthropicAPIKey != "sk-CANARY" || trust.Problem() != nil {
		t.Errorf("%+v %v", e, trust.Problem())
	}
	// The changed text is compared with the approved one.
	project(t, dir, "{\n  \"mounts\": [\"a-b:/a\"],\n  \"anthropic_api_key\": \"sk-CANARY\",\n  \"extra_dirs\": [\"/\u202ecte\"]\n}\n")
	e = ForDir(g, trust, dir, "")
	if d := e.Pending[0].Diff; !strings.Contains(d, "+  \"extra_dirs\": [\"/‹U+202E›cte\"]") || strings.Contains(d, "+  \"mounts\"") || len(e.Config.Mounts) != 0 {
		t.Errorf("%s\n%+v", d, e.Config)
	}
	// A changed key is not shown, but the diff shows that it changed.
	project(t, dir, "{\n  \"mounts\": [\"a-b:/a\"],\n  \"anthropic_api_key\": \"sk-OTHER\"\n}\n")
	if d := ForDir(g, trust, dir, "").Pending[0].Diff; d == "" || strings.Contains(d, "OTHER") {
		t.Errorf("%q", d)
	}
	if err := trust.Revoke(ProjectFile(dir)); err != nil {
		t.Fatal(err)
	}
	if err := trust.Revoke(ProjectFile(dir)); err != nil {
		t.Error(err)
	}
	if OpenTrust(path).approved(dir, p.SHA256) {
		t.Error("still trusted")
	}
}

func TestUnreadableTrustTrustsNothing(t *testing.T) {
	dir := project(t, t.TempDir(), `{"mounts": ["a-b:/a"]}`)
	sum := sumOf([]byte(`{"mounts": ["a-b:/a"]}`))
	good := `{"version": 1, "projects": {"` + filepath.ToSlash(dir) + `": {"sha256": "` + sum + `"}}}`
	for name, prepare := range map[string]func(path string) error{
		"no JSON": func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) },
		"empty":   func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"version": func(path string) error { return os.WriteFile(path, []byte(strings.Replace(good, "1", "2", 1)), 0o600) },
		"for everyone": func(path string) error {
			return errors.Join(os.WriteFile(path, []byte(good), 0o600), os.Chmod(path, 0o666))
		},
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"a link": func(path string) error {
			return errors.Join(os.WriteFile(path+".real", []byte(good), 0o600), os.Symlink(path+".real", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), TrustFileName)
			if err := prepare(path); err != nil {
				t.Fatal(err)
			}
			trust := OpenTrust(path)
			if trust.Problem() == nil || trust.approved(dir, sum) {
				t.Fatal("it is trusted")
			}
			if err := trust.Approve(ProjectFile(dir), sum); err != nil {
				t.Fatal(err)
			}
			if again := OpenTrust(path); again.Problem() != nil || !again.approved(dir, sum) {
				t.Error("the new approval was not stored")
			}
			if _, err := os.Lstat(path + ".damaged"); err != nil {
				t.Error("the damaged file is gone")
			}
		})
	}
	var none Trust
	if none.approved(dir, sum) || none.Problem() != nil {
		t.Error("no approvals trust")
	}
	if (&Trust{entries: map[string]trusted{dir: {}}}).approved(dir, "") {
		t.Error("a file that could not be read is trusted")
	}
}

func TestTrustThatCannotBeStoredIsNotKept(t *testing.T) {
	dir := project(t, t.TempDir(), `{"mounts": ["a-b:/a"]}`)
	sum := sumOf([]byte(`{"mounts": ["a-b:/a"]}`))
	blocked := filepath.Join(t.TempDir(), "file")
	write(t, blocked, "")
	trust := &Trust{path: filepath.Join(blocked, TrustFileName), now: openTrust(t).now, entries: map[string]trusted{}}
	if err := trust.Approve(ProjectFile(dir), sum); err == nil || trust.approved(dir, sum) {
		t.Errorf("%v", err)
	}
}

func TestTrustByManyAtOnce(t *testing.T) {
	trust := openTrust(t)
	g := global(t, `{}`)
	var work sync.WaitGroup
	for range 8 {
		dir := project(t, t.TempDir(), `{"mounts": ["a-b:/a"]}`)
		work.Go(func() {
			for range 5 {
				e := ForDir(g, trust, dir, "")
				for _, p := range e.Pending {
					if err := trust.Approve(ProjectFile(dir), p.SHA256); err != nil {
						t.Error(err)
					}
				}
				if err := trust.Revoke(ProjectFile(dir)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
}

// TestALaterLoopAsksForItsNewFields: a name that this Loop does not know may be a
// setting of a later one, for example one that switches approval off. Approving the
// text today does not approve that setting, nor does an edit of another field.
func TestALaterLoopAsksForItsNewFields(t *testing.T) {
	const text = "{\n  \"claude_effort\": \"low\",\n  \"container_image\": \"mine\",\n  \"mounts\": [\"a-b:/a\"]\n}\n"
	path := filepath.Join(t.TempDir(), TrustFileName)
	dir := project(t, t.TempDir(), text)
	trust := OpenTrust(path)
	if err := trust.Approve(ProjectFile(dir), sumOf([]byte(text))); err != nil {
		t.Fatal(err)
	}
	e, ok := trust.get(dir)
	if !ok || strings.Join(e.Fields, " ") != "claude_effort container_image mounts" {
		t.Fatalf("%+v", e)
	}
	e.Fields = e.Fields[:2] // as stored by a Loop that did not know mounts
	if err := trust.put(dir, &e); err != nil {
		t.Fatal(err)
	}
	trust = OpenTrust(path)
	got := ForDir(global(t, `{}`), trust, dir, "")
	if len(got.Pending) != 1 || strings.Join(got.Pending[0].Fields, " ") != "mounts" || len(got.Config.Mounts) != 0 || got.Config.ContainerImage != "mine" || len(got.Approved) != 0 {
		t.Fatalf("%+v %+v", got.Pending, got.Config)
	}
	if d := got.Pending[0].Diff; !strings.Contains(d, "+  \"mounts\": [\"a-b:/a\"]") {
		t.Errorf("%q", d)
	}
	// An edit of another field approves nothing that waits.
	ed := Editor{History: OpenHistory(t.TempDir()), Trust: trust}
	if err := ed.Set(ProjectFile(dir), "claude_effort", "high"); err != nil {
		t.Fatal(err)
	}
	if got = ForDir(global(t, `{}`), OpenTrust(path), dir, ""); len(got.Pending) != 1 || len(got.Config.Mounts) != 0 {
		t.Fatalf("%+v %+v", got.Pending, got.Config)
	}
	if err := trust.Approve(ProjectFile(dir), got.Pending[0].SHA256); err != nil {
		t.Fatal(err)
	}
	if got = ForDir(global(t, `{}`), OpenTrust(path), dir, ""); len(got.Pending) != 0 || len(got.Config.Mounts) != 1 || len(got.Approved) != 1 {
		t.Errorf("%+v", got)
	}

	unknown := project(t, t.TempDir(), "{\n  \"gates\": {\"files\": \"off\"}\n}\n")
	if harmless(ProjectPath(unknown), []byte("{\n  \"gates\": {\"files\": \"off\"}\n}\n")) {
		t.Error("a file with names that Loop does not know is taken for harmless")
	}
	if err := ed.Set(ProjectFile(unknown), "claude_effort", "low"); err != nil {
		t.Fatal(err)
	}
	if e, ok := trust.get(unknown); ok {
		t.Errorf("approved by an edit of another field: %+v", e)
	}
}
