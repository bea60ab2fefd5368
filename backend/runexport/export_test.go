package runexport

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/redact"
)

const (
	key = "sk-ant-CANARY-1"
	env = `CANARY <of> "the" env & more`
)

var began = time.Date(2026, 11, 24, 14, 2, 0, 0, time.UTC)

type source struct {
	run     core.Run
	events  []core.Event
	frames  []core.KeptFrame
	casts   map[string]string
	shown   map[string]string // pictures of the channel, by id
	list    []core.Recording
	noKeys  error
	onFrame func()
}

type seeker struct{ *strings.Reader }

func (seeker) Close() error { return nil }

func (s *source) Frames(context.Context, core.RunID) ([]core.KeptFrame, error) { return s.frames, nil }
func (s *source) OpenFrame(_ context.Context, id int64, picture string) (io.ReadSeekCloser, error) {
	if s.onFrame != nil {
		s.onFrame()
	}
	if picture == "broken" {
		return nil, core.Fail(core.CodeDir, nil, "The file of the picture is damaged.", "")
	}
	return seeker{strings.NewReader(fmt.Sprint("jpeg ", id))}, nil
}

func (s *source) Recordings(context.Context) ([]core.Recording, error) { return s.list, nil }
func (s *source) OpenRecording(name string) (io.ReadSeekCloser, time.Time, error) {
	text, ok := s.casts[name]
	if !ok {
		return nil, time.Time{}, core.Fail(core.CodeNotFound, nil, "There is no such recording.", "")
	}
	return seeker{strings.NewReader(text)}, began, nil
}

func (s *source) service() *Service {
	return New(Options{
		Run: func(_ context.Context, id core.RunID) (core.Run, error) {
			if id != s.run.ID {
				return core.Run{}, core.ErrNotFound
			}
			return s.run, nil
		},
		Events: func(_ context.Context, _ core.RunID, after int64) (out []core.Event, err error) {
			for _, e := range s.events {
				if e.ID > after && len(out) < 3 {
					out = append(out, e)
				}
			}
			return out, nil
		},
		Secrets: func(context.Context, core.Run) (r redact.Secrets, err error) {
			r.AddKeys(key)
			r.AddEnv([]core.EnvVar{{Value: env, Secret: true}})
			return r, s.noKeys
		},
		Picture: func(ch core.ChannelID, id string) ([]byte, error) {
			if data, ok := s.shown[id]; ok && ch == s.run.ChannelID {
				return []byte(data), nil
			}
			return nil, core.Fail(core.CodeNotFound, nil, "A picture of the prompt is not there any more.", "")
		},
		Frames: s, Recordings: s, Now: func() time.Time { return began.Add(time.Minute) },
	})
}

func (s *source) event(at time.Duration, t core.EventType, data any) {
	e := core.NewEvent(t, "c", "r", began.Add(at), data)
	e.ID = int64(len(s.events) + 1)
	s.events = append(s.events, e)
}

// unzip reads an export as anybody would.
func unzip(t *testing.T, s *source) map[string]string {
	t.Helper()
	x, err := s.service().Export(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := x.Write(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range z.File {
		text, err := fs.ReadFile(z, f.Name)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(text)
	}
	return files
}

func ordinary() *source {
	s := &source{run: core.Run{ID: "r", ChannelID: "c", StartedAt: began, EndedAt: began.Add(10 * time.Second), State: core.RunDone}}
	s.event(-time.Second, core.EventMessageCreated, core.MessageCreated{Content: "Try it with " + key})
	s.event(time.Second, core.EventToolUse, core.ToolUse{ToolUseID: "a", Name: "Bash", Input: json.RawMessage(`{"command":"echo $X"}`)})
	s.event(2*time.Second, core.EventToolUse, core.ToolUse{ToolUseID: "b", Name: "Write", Input: json.RawMessage(`{"text":"CANARY \u003cof\u003e \"the\" env \u0026 more"}`)})
	s.event(3*time.Second, core.EventToolResult, core.ToolResult{ToolUseID: "a", Output: env + "\n```\n<script>alert(1)</script>", IsError: true})
	s.event(4*time.Second, core.EventToolResult, core.ToolResult{ToolUseID: "b", Output: "ok"})
	s.event(5*time.Second, core.EventMessageCreated, core.MessageCreated{Content: "Done & <b>well</b>.", IsBot: true})
	s.event(6*time.Second, core.EventStatus, core.Status{State: core.RunDone})
	at := func(d time.Duration) int64 { return began.Add(d).UnixMilli() }
	s.frames = []core.KeptFrame{
		{ID: 1, Kind: core.FrameAct, Time: at(2 * time.Second), Deed: "opened x", Picture: "p", URL: "http://x/?k=" + key},
		{ID: 2, Kind: core.FrameTake, Time: at(3 * time.Second), Picture: "p"},
		{ID: 3, Kind: core.FramePage, Time: at(4 * time.Second), Picture: "broken"},
		{ID: 4, Kind: core.FrameGive, Time: at(5 * time.Second), Why: "No picture came."},
	}
	return s
}

func TestExport(t *testing.T) {
	s := ordinary()
	pieces := `{"version":2,"width":80,"height":24,"timestamp":1,"title":"build sk-ant-CANARY-1","loop_session_id":"id","loop_channel_id":"c"}` + "\n" +
		`[0.5,"o","$ sk-ant"]` + "\n" + `[0.6,"o","-CAN"]` + "\n" + `[0.7,"o","ARY-1 and sk-ant"]` + "\n" + `[0.8,"r","90x30"]` + "\n" +
		`[0.9,"i","typed"]` + "\n" + `[1,"o","."]` + "\n" + `[99,"o","after the run"]` + "\n"
	s.casts = map[string]string{"one": pieces}
	rec := func(name string, from time.Duration, ch core.ChannelID) core.Recording {
		return core.Recording{Name: name, ChannelID: ch, Title: "Terminal " + key, StartedAt: began.Add(from), DurationMs: 5000}
	}
	s.list = []core.Recording{rec("gone", 2*time.Second, "c"), rec("one", time.Second, "c"), rec("other", 0, "d"), rec("before", -time.Minute, "c"), rec("after", time.Minute, "c")}
	files := unzip(t, s)
	for name, text := range files {
		if strings.Contains(text, "CANARY") || strings.Contains(text, "loop_session") {
			t.Errorf("%s: %s", name, text)
		}
	}
	var turns []eventLine
	if err := json.Unmarshal([]byte(files["turns.json"]), &turns); err != nil || len(turns) != 7 || turns[1].At != 1000 || !strings.Contains(files["turns.json"], redact.Mark) {
		t.Errorf("%v %s", err, files["turns.json"])
	}
	if md := files["turns.md"]; !strings.Contains(md, "## 0:03 Result, failed of Bash\n\n````\n"+redact.Mark+"\n```\n") || !strings.Contains(md, "\n$ echo $X\n") ||
		!strings.Contains(md, "## 0:05 Claude\n\nDone & <b>well</b>.\n") || !strings.Contains(md, "The run ended: done") {
		t.Error(md)
	}
	if page := files["index.html"]; strings.Contains(page, "<script") || strings.Contains(page, "<b>well") || strings.Count(page, `<img src="frames/0001.jpg"`) != 2 ||
		!strings.Contains(page, "The file of the picture is damaged.") || !strings.Contains(page, "No picture came.") || !strings.Contains(page, "It lasted 0:10.") ||
		!strings.Contains(page, "is left out: There is no such recording.") {
		t.Error(page)
	}
	var frames []frameLine
	if err := json.Unmarshal([]byte(files["frames/index.json"]), &frames); err != nil || len(frames) != 4 || frames[1].File != "frames/0001.jpg" || frames[1].At != 3000 ||
		frames[2].File != "" || frames[2].Why != "The file of the picture is damaged." || files["frames/0001.jpg"] != "jpeg 1" {
		t.Errorf("%v %+v", err, frames)
	}
	if want := `{"height":24,"timestamp":1,"title":"build ` + redact.Mark + `","version":2,"width":80}` + "\n" +
		`[0.5,"o","$ "]` + "\n" + `[0.7,"o","` + redact.Mark + ` and "]` + "\n" + `[0.8,"r","90x30"]` + "\n" + `[1,"o","sk-ant."]` + "\n"; files["terminals/2.cast"] != want {
		t.Errorf("got  %s\nwant %s", files["terminals/2.cast"], want)
	}
	if agent := files["terminals/agent.cast"]; !strings.Contains(agent, `[1.000,"o","\u001b[34m$\u001b[0m echo $X\r\n"]`) || !strings.Contains(agent, `[3.000,"o","`+redact.Mark+`\r\n`) {
		t.Error(agent)
	}
	if len(files) != 7 {
		t.Errorf("%d files", len(files))
	}
}

// TestPicturesOfTurns: those of prompts and results are in the file, equal ones once; what is left
// out is named, with the reason.
func TestPicturesOfTurns(t *testing.T) {
	s := ordinary()
	s.frames = nil
	s.shown = map[string]string{"aa": "one", "bb": "two", "cc": "three", "dd": "four"}
	png := func(id string) core.Attachment { return core.Attachment{ID: id, Name: key, Type: "image/png"} }
	s.event(7*time.Second, core.EventMessageCreated, core.MessageCreated{Content: "Like this", Attachments: []core.Attachment{png("aa")}})
	s.event(8*time.Second, core.EventToolResult, core.ToolResult{ToolUseID: "c", Output: "[image]\n[image]\n[image]\n[image]", Pictures: []core.Attachment{
		{ID: "bb", Type: "image/jpeg"}, png("aa"), png("gone"), {ID: "dd", Type: "image/png", Bytes: maxPictures}, {ID: "cc", Type: "text/html"}}})
	files := unzip(t, s)
	if files["pictures/aa.png"] != "one" || files["pictures/bb.jpg"] != "two" || len(files) != 6 {
		t.Errorf("%d files: %q %q", len(files), files["pictures/aa.png"], files["pictures/bb.jpg"])
	}
	md, html := files["turns.md"], files["index.html"]
	for _, want := range []string{"Like this\n\n![picture](pictures/aa.png)\n", "![picture](pictures/bb.jpg)\n\n![picture](pictures/aa.png)\n\n" +
		"A picture is left out: A picture of the prompt is not there any more.\n\nA picture is left out: The pictures of this run have more than 256 MB together.\n"} {
		if !strings.Contains(md, want) {
			t.Errorf("no %q in %s", want, md)
		}
	}
	if strings.Count(html, `<img src="pictures/aa.png"`) != 2 || strings.Count(html, "A picture is left out:") != 3 ||
		!strings.Contains(html, "Pictures of prompts and tools that are left out: 3. The first one: A picture of the prompt is not there any more.") ||
		strings.Contains(html, key) {
		t.Error(html)
	}
}

// TestEditedPrompt: a prompt that was edited while it waited is exported as it was sent, with its
// pictures and without its secrets; an answer keeps its words.
func TestEditedPrompt(t *testing.T) {
	s := ordinary()
	s.frames, s.events = nil, nil
	s.shown = map[string]string{"aa": "one"}
	s.event(-3*time.Second, core.EventMessageCreated, core.MessageCreated{MsgID: "r", Content: "The first idea", Attachments: []core.Attachment{{ID: "aa", Type: "image/png"}}})
	s.event(-2*time.Second, core.EventMessageUpdated, core.MessageUpdated{MsgID: "r", Content: "The next idea"})
	s.event(-time.Second, core.EventMessageUpdated, core.MessageUpdated{MsgID: "r", Content: "Better thoughts about " + key + "\n"})
	s.event(time.Second, core.EventMessageCreated, core.MessageCreated{MsgID: "a", Content: "My answer", IsBot: true})
	s.event(2*time.Second, core.EventMessageUpdated, core.MessageUpdated{MsgID: "a", Content: "Not my answer"})
	files := unzip(t, s)
	want := "## 0:00 Prompt\n\nBetter thoughts about " + redact.Mark + "\n\n![picture](pictures/aa.png)\n\n## 0:01 Claude\n\nMy answer\n"
	if md := files["turns.md"]; !strings.Contains(md, want) || strings.Contains(md, "idea") {
		t.Errorf("want %q in %s", want, md)
	}
	if page := files["index.html"]; !strings.Contains(page, "Better thoughts about") || strings.Contains(page, "idea") {
		t.Error(page)
	}
}

// TestExportsThatCannotBe fail before anything is written, with a reason.
func TestExportsThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*source)
		id     core.RunID
		want   core.Code
	}{
		"unknown":    {func(*source) {}, "x", core.CodeNotFound},
		"not begun":  {func(s *source) { s.run.StartedAt = time.Time{} }, "r", core.CodeConflict},
		"no secrets": {func(s *source) { s.noKeys = core.Fail(core.CodeCredentials, nil, "The keyring is locked.", "") }, "r", core.CodeConfig},
	} {
		s := ordinary()
		c.change(s)
		if _, err := s.service().Export(t.Context(), c.id); core.AsFailure(err).Code != c.want || core.AsFailure(err).Remedy == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type full struct{ left int }

var errFull = errors.New("disk full")

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestWritingEnds: a reader that goes away, or a full disk, ends the export with an error.
func TestWritingEnds(t *testing.T) {
	for left := 0; left < 2000; left += 100 {
		x, err := ordinary().service().Export(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Write(t.Context(), &full{left}); !errors.Is(err, errFull) {
			t.Fatalf("%d: %v", left, err)
		}
	}
}

// TestLongRuns: a run under way lasts until now, and long turns and runs are cut with a note.
func TestLongRuns(t *testing.T) {
	s := ordinary()
	s.run.EndedAt, s.frames = time.Time{}, nil
	for i := range 1000 {
		s.event(time.Duration(i)*time.Second, core.EventMessageCreated, core.MessageCreated{Content: strings.Repeat("ü", maxOneText), IsBot: true})
	}
	files := unzip(t, s)
	if page := files["index.html"]; !strings.Contains(page, "It lasted 1:00 when this was exported") || !strings.Contains(page, "The page and turns.md end at") || len(page) > 2*maxPageText {
		t.Errorf("%d bytes: %.3000s", len(page), page)
	}
	if len(files["turns.json"]) < 1000*maxOneText || strings.Contains(files["turns.md"], "\ufffd") {
		t.Error("turns are missing")
	}
}

func FuzzCast(f *testing.F) {
	f.Add([]byte(`{"version":2,"width":80,"height":24}` + "\n" + `[0.5,"o","sk-ant-CAN"]` + "\n" + `[0.6,"o","ARY-1"]` + "\n"))
	f.Add([]byte(`{"version":2}` + "\n" + `["x","o","y"]` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var secrets redact.Secrets
		secrets.AddKeys(key)
		var out bytes.Buffer
		if _, _, err := copyCast(t.Context(), &out, bytes.NewReader(text), secrets, time.Hour, 1<<20); err != nil {
			t.Fatal(err)
		}
		all := ""
		for i, line := range strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n") {
			var e []any
			if i > 0 && json.Unmarshal([]byte(line), &e) != nil {
				t.Fatalf("%q", line)
			}
			if len(e) == 3 && e[1] == "o" {
				all += e[2].(string)
			}
		}
		if strings.Contains(all, key) {
			t.Fatalf("%q", all)
		}
	})
}
