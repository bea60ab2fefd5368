package transcript

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"

	"loop/backend/core"
)

// Picture is the content of one in a tool's result. Nobody has looked at it yet.
type Picture []byte

// browserTools show the agent pictures that Loop has taken, and keeps, itself.
const browserTools = "mcp__loop-browser__"

// output is the readable part of a tool's result.
type output struct {
	text     string
	cut      bool
	pictures []Picture
	bytes    int // of the pictures
}

// outputOf reads a tool's result, a string or a list of blocks.
func outputOf(body []byte) (o output) {
	if len(body) == 0 || string(body) == "null" {
		return o
	}
	switch body[0] {
	case '"':
		o.text, o.cut = firstOf(body, maxOutput)
		return o
	case '[':
	default:
		o.text, o.cut = clip(string(repaired(body)), maxOutput)
		return o
	}
	var sb strings.Builder
	_ = elements(body, func(val []byte) error {
		v, err := pick(val, "type", "text", "source")
		if err != nil {
			return err
		}
		if sb.Len() > maxOutput {
			o.cut = true
			return errShape // enough
		}
		if sb.Len() > 0 {
			sb.WriteByte('\n')
		}
		switch typ, _ := firstOf(v[0], maxShort); typ {
		case "text":
			text, more := firstOf(v[1], maxOutput)
			sb.WriteString(text)
			o.cut = o.cut || more
		case "image":
			sb.WriteString(o.picture(v[2]))
		default:
			sb.WriteString("[" + typ + "]") // a reference, a document
		}
		return nil
	})
	var clipped bool
	o.text, clipped = clip(sb.String(), maxOutput)
	o.cut = o.cut || clipped
	return o
}

// picture takes one in, as far as the bounds of pictures in prompts allow, and returns what
// stands for it in the text.
func (o *output) picture(source []byte) string {
	const mark = "[image]"
	v, err := pick(source, "type", "data")
	if err != nil {
		return mark
	}
	if kind, _ := firstOf(v[0], maxShort); kind != "base64" || len(v[1]) < 2 || v[1][0] != '"' {
		return mark // by an address, which nobody here opens
	}
	coded := v[1][1 : len(v[1])-1]
	if size := base64.StdEncoding.DecodedLen(len(coded)); size > core.MaxAttachmentBytes+2 || o.bytes+size > core.MaxAttachmentsBytes {
		return fmt.Sprintf("[image of %d bytes left out]", size)
	}
	if bytes.IndexByte(coded, '\\') >= 0 {
		var s string
		if decode(v[1], &s) != nil {
			return mark
		}
		coded = []byte(s)
	}
	data := make([]byte, base64.StdEncoding.DecodedLen(len(coded)))
	n, err := base64.StdEncoding.Decode(data, coded)
	if err != nil || n == 0 || len(o.pictures) >= core.MaxAttachments {
		return mark
	}
	o.pictures, o.bytes = append(o.pictures, data[:n]), o.bytes+n
	return mark
}
