package bind

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"loop/backend/core"
	"loop/backend/sharedfolder"
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
	at, err := folder.Keep(pastes, pasteName(time.Now(), name, data), int64(len(data)), bytes.NewReader(data))
	if err != nil {
		return "", core.Fail(core.CodeDir, err, "The file could not be kept.",
			"Check that the disk is not full; or copy it into the project's folder and name it there.")
	}
	return core.ShellQuote(at), nil
}

// pasteName takes nothing from the page's name but, for text, a known ending.
func pasteName(now time.Time, name string, data []byte) string {
	kind, _, _ := strings.Cut(http.DetectContentType(data), ";")
	ext := cmp.Or(pasteKinds[kind], "bin")
	if said := strings.ToLower(strings.TrimPrefix(path.Ext(name), ".")); strings.HasPrefix(kind, "text/") {
		ext = "txt"
		if slices.Contains(pasteTexts, said) {
			ext = said
		}
	}
	return fmt.Sprintf("paste-%s-%s.%s", now.UTC().Format(pasteTime), core.NewID()[:8], ext)
}

// PasteHostFile keeps a copy of a file of this computer that the channel's
// container does not see, and returns its path there as PasteFile does. No link
// is followed: another channel's agent may have made it in a folder of its own.
func (t *Terminals) PasteHostFile(channelID, hostPath string) (string, error) {
	if !core.NewMountTable(nil, t.OS).OnHost(hostPath) {
		return "", core.ErrNoFullPath
	}
	data, err := readToPaste(hostPath)
	if err != nil {
		return "", err
	}
	return t.paste(channelID, path.Base(hostPath), data)
}

func readToPaste(at string) ([]byte, error) {
	shown := core.CleanTitle(at)
	named, err := os.Lstat(at)
	if err != nil {
		return nil, unreadable(at, err)
	}
	switch {
	case named.IsDir():
		return nil, core.Fail(core.CodeMount, nil, fmt.Sprintf("The container does not see the folder %s.", shown),
			"Add it to “mounts” in the settings, or drop the files in it.")
	case !named.Mode().IsRegular():
		return nil, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%s is a link, or no ordinary file.", shown),
			"Drop the file that it leads to, or copy its content into one.")
	}
	f, err := os.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would be waited for
	if err != nil {
		return nil, unreadable(at, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !os.SameFile(named, info) {
		return nil, unreadable(at, errors.Join(err, errors.New("another file has taken its place")))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxPaste+1)) // one more shows that it is too large
	if err != nil {
		return nil, unreadable(at, err)
	}
	return data, nil
}

const (
	// pasteAge is how long a pasted file is kept: a conversation that names it is
	// hardly taken up again a week later.
	pasteAge = 7 * 24 * time.Hour
	// maxPastes bounds all of a channel's pasted files: twenty of the largest.
	maxPastes = 200 << 20
)

// pasted are the names that pasteName makes, with their time.
var pasted = regexp.MustCompile(`^paste-([0-9]{8}T[0-9]{6}Z)-[0-9a-f]{8}\.[a-z]{2,4}$`)

const pasteTime = "20060102T150405Z"

// pastes is how long pasted files stay. Files of other names are the agent's.
var pastes = sharedfolder.Rule{
	Age: pasteAge, Max: maxPastes,
	Put: func(info fs.FileInfo) (time.Time, bool) {
		m := pasted.FindStringSubmatch(info.Name())
		if m == nil {
			return time.Time{}, false
		}
		put, err := time.Parse(pasteTime, m[1])
		return put, err == nil
	},
}
