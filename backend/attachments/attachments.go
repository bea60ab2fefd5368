// Package attachments keeps the pictures that people give to prompts, and those that the
// agent's tools showed it: files in the channel's folder of Loop's home, which no container
// sees, named by what is in them.
//
// daemon and tests may import it.
package attachments

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // formats of the Messages API
	_ "image/jpeg" //
	_ "image/png"  //
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	_ "golang.org/x/image/webp" //

	"loop/backend/atomicfile"
	"loop/backend/core"
)

const (
	folder  = "attachments"
	maxName = 200 // bytes

	idLength = 2 * sha256.Size
)

// Files keeps them. Methods may be called from any goroutine.
type Files struct {
	Home     string // Loop's own folder
	Channels interface {
		Channel(ctx context.Context, id core.ChannelID) (core.Channel, error)
	}
	// Named says whether a run or an event of the channel names a picture.
	Named func(ctx context.Context, ch core.ChannelID, id string) (bool, error)
	Log   *slog.Logger
}

// Add keeps a picture and says what it is. Errors are Failures for a screen.
func (f Files) Add(ctx context.Context, ch core.ChannelID, name string, data []byte) (core.Attachment, error) {
	a, err := describe(name, data)
	if err != nil {
		return a, err
	}
	if _, err := f.Channels.Channel(ctx, ch); err != nil {
		if errors.Is(err, core.ErrNotFound) {
			return a, core.Fail(core.CodeNotFound, err, "This channel does not exist any more.", "Choose another channel.")
		}
		return a, fmt.Errorf("read channel: %w", err)
	}
	counting.Lock()
	defer counting.Unlock()
	at := f.path(ch, a.ID)
	if info, err := os.Lstat(at); err == nil && info.Mode().IsRegular() && info.Size() == a.Bytes {
		if _, err := os.Lstat(at + uses); errors.Is(err, fs.ErrNotExist) {
			return a, nil // it is older than the count, and stays
		}
		return a, f.use(ch, a.ID, 1)
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return a, fmt.Errorf("make the folder of attachments: %w", err)
	}
	if err := f.use(ch, a.ID, 1); err != nil {
		return a, err
	}
	if err := atomicfile.Replace(at, data); err != nil {
		return a, fmt.Errorf("keep attachment: %w", err)
	}
	return a, nil
}

// AddFile keeps a picture that is a file of this computer, which a person has dropped.
func (f Files) AddFile(ctx context.Context, ch core.ChannelID, name string) (core.Attachment, error) {
	data, _, err := atomicfile.Read(name, core.MaxAttachmentBytes)
	if err != nil {
		return core.Attachment{}, core.Fail(core.CodeInvalid, err, fmt.Sprintf("%q cannot be attached: %v.", filepath.Base(name), err),
			fmt.Sprintf("Attach a PNG, JPEG, GIF or WebP file of at most %.2f MB.", core.MaxAttachmentBytes/1e6))
	}
	return f.Add(ctx, ch, filepath.Base(name), data)
}

// Read returns the bytes of a picture, once they are what its id says.
func (f Files) Read(ch core.ChannelID, id string) ([]byte, error) {
	if !valid(ch, id) {
		return nil, core.Fail(core.CodeInvalid, nil, "That is no attachment's id.", "")
	}
	data, _, err := atomicfile.Read(f.path(ch, id), core.MaxAttachmentBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, core.Fail(core.CodeNotFound, err, "A picture of the prompt is not there any more.", "Attach it again.")
	}
	if err != nil {
		return nil, fmt.Errorf("read attachment: %w", err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != id {
		return nil, core.Fail(core.CodeInvalid, nil, "A picture of the prompt was changed since it was attached.", "Attach it again.")
	}
	return data, nil
}

// Look says what a kept picture is, by its id and with the name that it was given.
func (f Files) Look(ch core.ChannelID, id, name string) (core.Attachment, error) {
	data, err := f.Read(ch, id)
	if err != nil {
		return core.Attachment{}, err
	}
	return describe(name, data)
}

func (f Files) path(ch core.ChannelID, id string) string {
	return filepath.Join(f.Home, "channels", string(ch), folder, id)
}

// describe looks at the head of a picture alone: one of a few bytes may claim gigabytes.
func describe(name string, data []byte) (core.Attachment, error) {
	if len(data) > core.MaxAttachmentBytes {
		return core.Attachment{}, core.Fail(core.CodeInvalid, nil,
			fmt.Sprintf("The picture has %.1f MB, and the model takes %.2f at most.", float64(len(data))/1e6, core.MaxAttachmentBytes/1e6),
			"Make it smaller, or cut out what matters.")
	}
	head, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return core.Attachment{}, core.Fail(core.CodeInvalid, err, "This is no picture that the model takes.",
			"Attach a PNG, JPEG, GIF or WebP. Other files go into the prompt by “@”.")
	}
	if head.Width <= 0 || head.Height <= 0 || head.Width > core.MaxAttachmentSide || head.Height > core.MaxAttachmentSide {
		return core.Attachment{}, core.Fail(core.CodeInvalid, nil,
			fmt.Sprintf("The picture is %d × %d pixels, and the model takes %d a side at most.", head.Width, head.Height, core.MaxAttachmentSide),
			"Make it smaller, or cut out what matters.")
	}
	sum := sha256.Sum256(data)
	return core.Attachment{ID: hex.EncodeToString(sum[:]), Name: shown(name), Type: "image/" + format, Bytes: int64(len(data)),
		Width: head.Width, Height: head.Height}, nil
}

// shown is a name fit for a screen.
func shown(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, name)
	for len(name) > maxName {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	if name == "" {
		return "picture"
	}
	return name
}
