package core

// MaxBrowserFile bounds one file that is given to a page, in bytes.
const MaxBrowserFile = 64 << 20

// MaxBrowserPaste bounds a text that is pasted into a page, in bytes.
const MaxBrowserPaste = 1 << 20

// BrowserChooser is a page that waits for files.
type BrowserChooser struct {
	Multiple bool   `json:"multiple"`
	Accept   string `json:"accept"` // what the page wants, as an input's accept; hostile
}

// States of a BrowserDownload.
const (
	DownloadRunning = "running"
	DownloadDone    = "done"
	DownloadRefused = "refused"
)

// BrowserDownload is one file that a page handed out.
type BrowserDownload struct {
	ID    string `json:"id"`
	Name  string `json:"name"`           // plain
	Bytes int64  `json:"bytes"`          // so far
	Total int64  `json:"total"`          // 0 where the server does not say
	State string `json:"state"`          // running, done, refused
	Path  string `json:"path,omitempty"` // done: as the agent finds it
	Why   string `json:"why,omitempty"`  // refused: a sentence
	At    int64  `json:"at"`             // ms since the epoch, when it began
}
