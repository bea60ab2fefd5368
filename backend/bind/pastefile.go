package bind

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"loop/backend/core"
)

// maxPaste bounds a pasted file; an agent's API takes no larger picture.
const maxPaste = 10 << 20

// pasteKinds are the extensions of contents, as browsers recognise them.
var pasteKinds = map[string]string{
	"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp", "image/bmp": "bmp",
	"application/pdf": "pdf", "text/plain": "txt",
}

// pasteTexts are kinds of text that only a name tells.
var pasteTexts = []string{"md", "csv", "json", "log", "yaml", "xml", "diff"}

// PasteFile keeps a pasted or dropped file, which comes base64 encoded, where the
// channel's container sees it. It returns the path there, quoted as by ContainerPath.
// name is the file's, if the page knows it.
func (t *Terminals) PasteFile(channelID, name, data string) (string, error) {
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return "", core.Fail(core.CodeInvalid, err, "The pasted file came damaged: it is not base64.", "Paste it again.")
	}
	return t.paste(channelID, name, b)
}

// paste keeps data where the channel's container sees it.
func (t *Terminals) paste(channelID, name string, data []byte) (string, error) {
	switch {
	case len(data) > maxPaste:
		return "", core.Fail(core.CodeInvalid, nil, fmt.Sprintf("That is larger than %d MiB.", maxPaste>>20),
			"Copy the file into the project's folder and name it there, or add its folder to “mounts” in the settings.")
	case len(data) == 0:
		return "", core.Fail(core.CodeInvalid, nil, "The file is empty.", "Check that it is the one you mean.")
	}
	folder, err := t.Shared.PasteFolder(t.Ctx, core.ChannelID(channelID))
	if err != nil {
		return "", err
	}
	file := pasteName(time.Now(), name, data)
	if err := keepPaste(folder, file, data); err != nil {
		return "", core.Fail(core.CodeDir, err, "The file could not be kept.",
			"Check that the disk is not full; or copy it into the project's folder and name it there.")
	}
	return shellQuote(path.Join(folder.Target, file)), nil
}

// pasteName takes nothing from the page's name but, for text, a known ending.
func pasteName(now time.Time, name string, data []byte) string {
	kind, _, _ := strings.Cut(http.DetectContentType(data), ";")
	ext, ok := pasteKinds[kind]
	if !ok {
		ext = "bin"
	}
	if said := strings.ToLower(strings.TrimPrefix(path.Ext(name), ".")); strings.HasPrefix(kind, "text/") {
		ext = "txt"
		if slices.Contains(pasteTexts, said) {
			ext = said
		}
	}
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails on supported systems
	return fmt.Sprintf("paste-%s-%s.%s", now.UTC().Format(pasteTime), hex.EncodeToString(b[:]), ext)
}

// keepPaste writes a new file that only its owner may read. A container can write to
// the folder and may have put links there; none is followed.
func keepPaste(f PasteFolder, name string, data []byte) (err error) {
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return fmt.Errorf("open folder: %w", err)
	}
	defer root.Close()
	if err := root.Mkdir(f.Dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make folder of pasted files: %w", err)
	}
	if info, err := root.Lstat(f.Dir); err != nil || !info.IsDir() {
		return fmt.Errorf("look at folder of pasted files: it is no folder: %w", errors.Join(err, fs.ErrInvalid))
	}
	dir, err := root.OpenRoot(f.Dir) // never outside of f.Root, also if it has become a link just now
	if err != nil {
		return fmt.Errorf("open folder of pasted files: %w", err)
	}
	defer dir.Close()
	prunePastes(dir, time.Now(), int64(len(data)))
	out, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("make file: %w", err)
	}
	_, err = out.Write(data)
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(fmt.Errorf("write file: %w", err), dir.Remove(name))
	}
	return nil
}
