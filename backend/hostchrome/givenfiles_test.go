package hostchrome

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// broken is a file whose wire breaks.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the wire broke") }

func TestGivenFiles(t *testing.T) {
	folder, now := t.TempDir(), time.Now()
	old, young := filepath.Join(folder, givenPrefix+"1"), filepath.Join(folder, givenPrefix+"2")
	for at, age := range map[string]time.Duration{old: 25 * time.Hour, young: time.Hour} {
		if err := os.MkdirAll(filepath.Join(at, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(at, now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	h := newGivenFiles(folder, now)
	if list, _ := os.ReadDir(folder); len(list) != 1 || list[0].Name() != filepath.Base(young) {
		t.Errorf("left behind: %v", list)
	}
	at, err := h.put(t.Context(), "../../a photo.png", strings.NewReader("pixels"))
	if err != nil || !strings.HasPrefix(at, folder) || !h.given(at) || h.given(at+"x") {
		t.Fatalf("%s, %v", at, err)
	}
	if text, err := os.ReadFile(at); string(text) != "pixels" || err != nil {
		t.Errorf("%s, %v", text, err)
	}
	same, err := h.put(t.Context(), "../../a photo.png", strings.NewReader("others"))
	if err != nil || same == at || filepath.Base(same) != filepath.Base(at) {
		t.Errorf("a second of the name: %s, %v", same, err)
	}
	if at, err := h.put(t.Context(), "b", broken{}); at != "" || core.AsFailure(err).Code != core.CodeDir {
		t.Errorf("broken off: %s, %v", at, err)
	}
	h.size = maxGiven - 3
	if at, err := h.put(t.Context(), "c", strings.NewReader("four")); at != "" || core.AsFailure(err).Code != core.CodeTooMany {
		t.Errorf("too much: %s, %v", at, err)
	}
	if list, _ := os.ReadDir(h.root); len(list) != 2 {
		t.Errorf("kept: %v", list)
	}
	if err := errors.Join(h.close(), h.close()); err != nil || h.given(at) {
		t.Error(err)
	}
	if list, _ := os.ReadDir(folder); len(list) != 1 {
		t.Errorf("after the end: %v", list)
	}
	if at, err := newGivenFiles(filepath.Join(folder, "none"), now).put(t.Context(), "d", strings.NewReader("x")); at != "" || core.AsFailure(err).Code != core.CodeDir {
		t.Errorf("no folder: %s, %v", at, err)
	}
}
