package core

// Bounds of what goes with one prompt. A picture of the Messages API has 5 MB in base64 and
// 8000 pixels a side at most, and the CLI passes on what it gets.
const (
	MaxAttachments     = 20
	MaxAttachmentBytes = 3_750_000
	// MaxAttachmentsBytes is of all together: in base64 they fit into one body of the link.
	MaxAttachmentsBytes = 11_000_000
	MaxAttachmentSide   = 8000
)

// Attachment is a picture that goes with a prompt. Its bytes are kept by ID, which is the
// hexadecimal SHA-256 of them, in the channel's folder.
type Attachment struct {
	ID     string `json:"id"`
	Name   string `json:"name"`  // as the person called it; for a screen
	Type   string `json:"type"`  // image/png, image/jpeg, image/gif, image/webp
	Bytes  int64  `json:"bytes"` // size
	Width  int    `json:"width"` // in pixels
	Height int    `json:"height"`
}
