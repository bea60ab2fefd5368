package attachments

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
)

type channels struct{}

func (channels) Channel(_ context.Context, id core.ChannelID) (core.Channel, error) {
	if id != "c" {
		return core.Channel{}, core.ErrNotFound
	}
	return core.Channel{ID: id}, nil
}

func picture(t *testing.T, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bomb is a PNG of a hundred bytes that claims a size.
func bomb(w, h uint32) []byte {
	b := []byte("\x89PNG\r\n\x1a\n")
	head := append([]byte("IHDR"), make([]byte, 13)...)
	binary.BigEndian.PutUint32(head[4:], w)
	binary.BigEndian.PutUint32(head[8:], h)
	head[12], head[13] = 8, 2
	b = binary.BigEndian.AppendUint32(b, 13)
	b = append(b, head...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(head))
}

func TestKept(t *testing.T) {
	f := Files{Home: t.TempDir(), Channels: channels{}}
	data := picture(t, 30, 20)
	a, err := f.Add(t.Context(), "c", "my \u202eshot\n.png", data)
	if err != nil || a.Type != "image/png" || a.Width != 30 || a.Height != 20 || a.Bytes != int64(len(data)) || a.Name != "my shot.png" {
		t.Fatalf("%+v %v", a, err)
	}
	if again, err := f.Add(t.Context(), "c", "other.png", data); err != nil || again.ID != a.ID {
		t.Errorf("%+v %v", again, err)
	}
	file := filepath.Join(t.TempDir(), "shot.png")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if same, err := f.AddFile(t.Context(), "c", file); err != nil || same.ID != a.ID || same.Name != "shot.png" {
		t.Errorf("%+v %v", same, err)
	}
	for _, none := range []string{file + "x", filepath.Dir(file)} {
		if _, err := f.AddFile(t.Context(), "c", none); core.AsFailure(err).Code != core.CodeInvalid {
			t.Errorf("%s: %v", none, err)
		}
	}
	if got, err := f.Read("c", a.ID); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if info, err := os.Stat(f.path("c", a.ID)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if err := os.WriteFile(f.path("c", a.ID), picture(t, 31, 20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read("c", a.ID); core.AsFailure(err).Code != core.CodeInvalid {
		t.Errorf("another picture: %v", err)
	}
	if _, err := f.Read("d", a.ID); core.AsFailure(err).Code != core.CodeNotFound {
		t.Errorf("of another channel: %v", err)
	}
}

func TestRefused(t *testing.T) {
	f := Files{Home: t.TempDir(), Channels: channels{}}
	for name, data := range map[string][]byte{
		"nothing": nil, "text": []byte("hello"), "svg": []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"),
		"half a head": []byte("\x89PNG\r\n\x1a\n"), "wide": bomb(9000, 10), "a bomb": bomb(1<<30, 1<<30),
		"large": append(picture(t, 2, 2), make([]byte, core.MaxAttachmentBytes)...),
		"bmp":   []byte("BM" + strings.Repeat("\x00", 60)),
	} {
		if a, err := f.Add(t.Context(), "c", name, data); core.AsFailure(err).Code != core.CodeInvalid || core.AsFailure(err).Remedy == "" {
			t.Errorf("%s: %+v %v", name, a, err)
		}
	}
	if _, err := f.Add(t.Context(), "gone", "x", picture(t, 2, 2)); core.AsFailure(err).Code != core.CodeNotFound {
		t.Error(err)
	}
	for _, id := range []string{"", "../../x", strings.Repeat("g", 64), strings.Repeat("a", 62)} {
		if _, err := f.Read("c", id); core.AsFailure(err).Code != core.CodeInvalid {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, err := f.Read("../c", strings.Repeat("a", 64)); core.AsFailure(err).Code != core.CodeInvalid {
		t.Error(err)
	}
	if all, err := filepath.Glob(filepath.Join(f.Home, "*")); err != nil || len(all) != 0 {
		t.Errorf("%v %v", all, err)
	}
}

func TestNameIsFitForAScreen(t *testing.T) {
	for name, want := range map[string]string{"": "picture", "\x00\n": "picture", strings.Repeat("é", 150): strings.Repeat("é", 100), "a\xffb": "ab"} {
		if got := shown(name); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}
