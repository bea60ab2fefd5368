package runexport

import (
	"context"
	"fmt"

	"loop/backend/core"
)

// shownPicture is one of a prompt, or of a tool's result.
type shownPicture struct {
	turn int // in turns; -1: they end before it
	core.Attachment
}

// turnPicture is a picture as the page and turns.md have it.
type turnPicture struct {
	File string // relative; empty: it was left out
	Why  string // then
}

var endings = map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}

// show takes note of the pictures of a turn, which are written once the events are.
func (x *Export) show(turn int, list []core.Attachment) {
	for _, a := range list {
		x.shown = append(x.shown, shownPicture{turn, a})
	}
}

// writePictures writes the pictures of prompts and results, each once and named by its id, by
// which turns.json names it as well.
func (x *Export) writePictures(ctx context.Context) error {
	known := map[string]turnPicture{}
	left, out, first := maxPictures, 0, ""
	for _, p := range x.shown {
		if err := ctx.Err(); err != nil {
			return err
		}
		t, ok := known[p.ID]
		if !ok {
			data, err := x.readPicture(p.Attachment, left)
			if err == nil {
				t.File, left = "pictures/"+p.ID+endings[p.Type], left-len(data)
				if err := x.whole(t.File, data, true); err != nil {
					return err
				}
			} else {
				t.Why = x.secrets.Text(core.AsFailure(err).Cause)
				if out++; first == "" {
					first = t.Why
				}
			}
			known[p.ID] = t
		}
		if p.turn >= 0 {
			x.turns[p.turn].Pictures = append(x.turns[p.turn].Pictures, t)
		}
	}
	if out > 0 {
		x.note("Pictures of prompts and tools that are left out: %d. The first one: %s", out, first)
	}
	return nil
}

func (x *Export) readPicture(a core.Attachment, left int) ([]byte, error) {
	if endings[a.Type] == "" {
		return nil, core.Fail(core.CodeInvalid, nil, "It is not known what kind of picture it is.", "")
	}
	more := core.Fail(core.CodeInvalid, nil, fmt.Sprintf("The pictures of this run have more than %d MB together.", maxPictures>>20), "")
	if a.Bytes > int64(left) {
		return nil, more
	}
	data, err := x.o.Picture(x.run.ChannelID, a.ID)
	if err != nil {
		return nil, err
	}
	if len(data) > left {
		return nil, more
	}
	return data, nil
}
