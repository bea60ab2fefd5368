package runner

import (
	"context"
	"strings"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// maxPictures bounds the pictures that are kept of one run's tools, in bytes. The agent
// may look at pictures all day, and they stay as long as the channel.
const maxPictures = 256 << 20

// keepPictures puts the pictures of tools' results where those of prompts are, and has
// the results refer to them. One that is no picture, or cannot be kept, is left out: its
// mark stays in the text. A result that is read again keeps the same files again.
func (w *work) keepPictures(ctx context.Context, items []transcript.Item) []transcript.Item {
	for i := range items {
		r, ok := items[i].Data.(core.ToolResult)
		for _, data := range items[i].Pictures {
			if !ok || w.shown+int64(len(data)) > maxPictures {
				r.Output = strings.Replace(r.Output, "[image]", "[image left out]", 1)
				continue
			}
			a, err := w.s.p.Attachments.Add(ctx, w.run.ChannelID, "picture", data)
			if err != nil {
				w.log.Warn("keep a picture of a tool", "bytes", len(data), "error", err)
				r.Output = strings.Replace(r.Output, "[image]", "[image left out]", 1)
				continue
			}
			w.shown += a.Bytes
			r.Pictures = append(r.Pictures, a)
		}
		if items[i].Pictures = nil; ok {
			items[i].Data = r
		}
	}
	return items
}
