package runexport

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"loop/backend/core"
	"loop/backend/redact"
)

// Bounds of one file. An ordinary run has some hundred KB of text; package footage keeps at
// most 40 MiB of pictures.
const (
	maxEvents    = 50_000
	maxTurnBytes = 64 << 20  // of all events, as they are stored
	maxPageText  = 16 << 20  // of the page and of turns.md, which people open
	maxOneText   = 20_000    // of one turn there
	maxCast      = 64 << 20  // of one recording
	maxCasts     = 192 << 20 // of all
	maxPictures  = 256 << 20 // of prompts and results
)

// Frames are the pictures of runs, as package footage keeps them.
type Frames interface {
	Frames(ctx context.Context, run core.RunID) ([]core.KeptFrame, error)
	OpenFrame(ctx context.Context, id int64, picture string) (io.ReadSeekCloser, error)
}

// Recordings are those of terminals.
type Recordings interface {
	Recordings(ctx context.Context) ([]core.Recording, error)
	OpenRecording(name string) (r io.ReadSeekCloser, written time.Time, err error)
}

// Options of a Service; all are required.
type Options struct {
	Run        func(ctx context.Context, id core.RunID) (core.Run, error)                    // unknown: core.ErrNotFound
	Events     func(ctx context.Context, id core.RunID, afterID int64) ([]core.Event, error) // oldest first; none: no more
	Secrets    func(ctx context.Context, run core.Run) (redact.Secrets, error)               // that the run may have seen
	Picture    func(ch core.ChannelID, id string) ([]byte, error)                            // of a prompt or a result; Failures
	Frames     Frames
	Recordings Recordings
	Now        func() time.Time
}

// Service exports runs. Methods may be called from any goroutine.
type Service struct{ o Options }

// New returns a Service.
func New(o Options) *Service { return &Service{o} }

// Export is a run that can be written as a zip.
type Export struct {
	o       Options
	run     core.Run
	began   time.Time
	end     time.Time
	secrets redact.Secrets

	zip   *zip.Writer
	turns []turn
	shown []shownPicture
	text  int // bytes in turns
	notes []string
	agent agentCast
}

// Export looks whether a run can be exported; a Failure says why not.
func (s *Service) Export(ctx context.Context, id core.RunID) (core.RunExport, error) {
	run, err := s.o.Run(ctx, id)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return nil, core.Fail(core.CodeNotFound, err, "There is no such run.", "It may have been removed with its channel.")
	case err != nil:
		return nil, err
	case run.StartedAt.IsZero():
		return nil, core.Fail(core.CodeConflict, nil, "This run has not begun.", "Export it when it has.")
	}
	secrets, err := s.o.Secrets(ctx, run)
	if err != nil {
		return nil, core.Fail(core.CodeConfig, err, "Loop cannot tell which secrets to leave out of this export: "+core.AsFailure(err).Cause,
			"Mend that, then export the run again.")
	}
	x := &Export{o: s.o, run: run, began: run.StartedAt, end: run.EndedAt, secrets: secrets}
	if x.end.IsZero() {
		x.end = s.o.Now()
	}
	return x, nil
}

// Name is how the file should be called.
func (x *Export) Name() string { return "loop-run-" + x.began.UTC().Format("20060102-150405") + ".zip" }

// Write writes the file. After an error what was written is no zip. It is called once.
func (x *Export) Write(ctx context.Context, w io.Writer) error {
	x.zip = zip.NewWriter(w)
	if err := x.writeEvents(ctx); err != nil {
		return err
	}
	if err := x.writePictures(ctx); err != nil {
		return err
	}
	pictures, err := x.writeFrames(ctx)
	if err != nil {
		return err
	}
	terminals, err := x.writeTerminals(ctx)
	if err != nil {
		return err
	}
	if err := x.writeMarkdown(); err != nil {
		return err
	}
	if err := x.writePage(pictures, terminals); err != nil {
		return err
	}
	if err := x.zip.Close(); err != nil {
		return fmt.Errorf("end the zip: %w", err)
	}
	return nil
}

// entry begins a file in the zip; plain is for what does not get smaller.
func (x *Export) entry(name string, plain bool) (io.Writer, error) {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: x.end}
	if plain {
		h.Method = zip.Store
	}
	w, err := x.zip.CreateHeader(h)
	if err != nil {
		return nil, fmt.Errorf("begin %s: %w", name, err)
	}
	return w, nil
}

func (x *Export) note(format string, args ...any) {
	x.notes = append(x.notes, fmt.Sprintf(format, args...))
}

// writeEvents writes all that is stored of the run, and gathers the turns.
func (x *Export) writeEvents(ctx context.Context) error {
	w, err := x.entry("turns.json", false)
	if err != nil {
		return err
	}
	n, bytes, sep := 0, 0, "[\n"
	for after := int64(0); ; {
		list, err := x.o.Events(ctx, x.run.ID, after)
		if err != nil {
			return err
		}
		for _, e := range list {
			after = e.ID
			if n++; n > maxEvents || bytes > maxTurnBytes {
				x.note("The run is longer than an export: its turns end after %d events.", n-1)
				list = nil
				break
			}
			bytes += len(e.Data)
			raw, err := x.secrets.Value(eventLine{e.Timestamp, e.Timestamp - x.began.UnixMilli(), e.Type, e.Data})
			if err != nil {
				return fmt.Errorf("write an event: %w", err)
			}
			if _, err := io.WriteString(w, sep+string(raw)); err != nil {
				return fmt.Errorf("write an event: %w", err)
			}
			sep = ",\n"
			x.take(e)
		}
		if len(list) == 0 {
			break
		}
	}
	if n == 0 {
		_, err = io.WriteString(w, "[]\n")
	} else {
		_, err = io.WriteString(w, "\n]\n")
	}
	if err != nil {
		return fmt.Errorf("write events: %w", err)
	}
	return nil
}

// eventLine is one element of turns.json.
type eventLine struct {
	Time int64           `json:"time"`   // ms since the epoch
	At   int64           `json:"run_ms"` // since the run began
	Type core.EventType  `json:"type"`
	Data json.RawMessage `json:"data,omitempty"`
}

// picture is a frame as the page shows it.
type picture struct {
	At    time.Duration
	Words string
	File  string // relative; empty: there is none
	Why   string
}

// frameLine is one element of frames/index.json.
type frameLine struct {
	File string `json:"file,omitempty"`
	At   int64  `json:"run_ms"`
	core.KeptFrame
}

func (x *Export) writeFrames(ctx context.Context) ([]picture, error) {
	frames, err := x.o.Frames.Frames(ctx, x.run.ID)
	if err != nil || len(frames) == 0 {
		return nil, err
	}
	files := map[string]string{} // equal pictures are one file
	lines := make([]frameLine, 0, len(frames))
	shown := make([]picture, 0, len(frames))
	for _, f := range frames {
		file := files[f.Picture]
		if file == "" && f.Picture != "" {
			name := fmt.Sprintf("frames/%04d.jpg", len(files)+1)
			var why error
			if why, err = x.copyPicture(ctx, f, name); err != nil {
				return nil, err
			}
			if why != nil {
				f.Why = core.AsFailure(why).Cause
			} else {
				file, files[f.Picture] = name, name
			}
		}
		at := time.UnixMilli(f.Time).Sub(x.began)
		lines = append(lines, frameLine{file, at.Milliseconds(), f})
		shown = append(shown, picture{max(at, 0), x.secrets.Text(frameWords(f)), file, x.secrets.Text(f.Why)})
	}
	raw, err := x.secrets.Value(lines)
	if err != nil {
		return nil, fmt.Errorf("write the list of frames: %w", err)
	}
	return shown, x.whole("frames/index.json", raw, false)
}

// copyPicture copies one picture. why is for a picture that is not there, which ends nothing.
func (x *Export) copyPicture(ctx context.Context, f core.KeptFrame, name string) (why, err error) {
	r, why := x.o.Frames.OpenFrame(ctx, f.ID, f.Picture)
	if why != nil {
		return why, ctx.Err()
	}
	defer r.Close()
	w, err := x.entry(name, true)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(w, r); err != nil {
		return nil, fmt.Errorf("copy %s: %w", name, err)
	}
	return nil, nil
}

// whole writes a file; plain is for what does not get smaller.
func (x *Export) whole(name string, data []byte, plain bool) error {
	w, err := x.entry(name, plain)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func frameWords(f core.KeptFrame) string {
	switch f.Kind {
	case core.FrameTake:
		return "The person took over"
	case core.FrameGive:
		return "The person gave back"
	case core.FramePage:
		return "The page changed"
	}
	words := "Claude " + f.Deed
	if f.Deed == "" {
		words = "Claude: " + f.Action
	}
	if f.Failed {
		words += ", which failed"
	}
	return words
}
