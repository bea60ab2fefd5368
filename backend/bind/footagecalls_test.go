package bind_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/bind"
	"loop/backend/core"
)

type fakeExports struct{ err, writing error }

func (f fakeExports) Export(context.Context, core.RunID) (core.RunExport, error) { return f, f.err }
func (f fakeExports) Name() string                                               { return "run.zip" }
func (f fakeExports) Write(_ context.Context, w io.Writer) error {
	_, err := io.WriteString(w, "PK")
	return errors.Join(err, f.writing)
}

// TestSaveExport: the window writes where the person chose, and a failed export leaves
// what was there.
func TestSaveExport(t *testing.T) {
	dir := t.TempDir()
	f := &bind.Footage{Ctx: t.Context(), Exports: fakeExports{}}
	if _, err := f.SaveExport("r"); core.AsFailure(err).Code != "no_native_dialog" {
		t.Errorf("without a window: %v", err)
	}
	f.Dialog = fakeWindow{fake: &fake{}}
	if to, err := f.SaveExport("r"); to != "" || err != nil {
		t.Errorf("a closed dialog: %q, %v", to, err)
	}
	f.Dialog = fakeWindow{fake: &fake{picked: dir}}
	want := filepath.Join(dir, "run.zip")
	to, err := f.SaveExport("r")
	if text, rerr := os.ReadFile(want); to != want || err != nil || rerr != nil || string(text) != "PK" {
		t.Errorf("%q, %v, %q %v", to, err, text, rerr)
	}
	refused := core.Fail(core.CodeNotFound, nil, "There is no such run.", "")
	for _, f.Exports = range []bind.RunExports{fakeExports{err: refused}, fakeExports{writing: refused}, fakeExports{writing: errors.New("disk full")}} {
		if to, err := f.SaveExport("r"); to != "" || core.AsFailure(err).Cause == "" {
			t.Errorf("%q, %v", to, err)
		}
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	f.Exports = fakeExports{writing: fmt.Errorf("write: %w", fs.ErrPermission)}
	if _, err := f.SaveExport("r"); !strings.Contains(core.AsFailure(err).Cause, "you may not write there") {
		t.Errorf("no right to write: %v", err)
	}
	f.Dialog, f.Exports = fakeWindow{fake: &fake{picked: filepath.Join(dir, "missing")}}, fakeExports{}
	if _, err := f.SaveExport("r"); core.AsFailure(err).Code != core.CodeDir {
		t.Errorf("no folder: %v", err)
	}
}
