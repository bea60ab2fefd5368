package auditlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"loop/backend/core"
)

// Entry is a record with its place: the number of its line in the file of a day.
type Entry struct {
	Record
	Day  string
	Line int
}

// daysOf are the days of which a channel has a file, newest first.
func (l *Log) daysOf(channel string) (days []string, err error) {
	files, err := os.ReadDir(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list records: %w", err)
	}
	for _, f := range slices.Backward(files) {
		if m := fileName.FindStringSubmatch(f.Name()); m != nil && m[1] == channel {
			days = append(days, m[2])
		}
	}
	return days, nil
}

// Channels are those that have records.
func (l *Log) Channels() ([]core.ChannelID, error) {
	files, err := os.ReadDir(l.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list records: %w", err)
	}
	var out []core.ChannelID
	for _, f := range files {
		m := fileName.FindStringSubmatch(f.Name())
		if m != nil && !slices.Contains(out, core.ChannelID(m[1])) {
			out = append(out, core.ChannelID(m[1]))
		}
	}
	return out, nil
}

// text is the whole lines of a channel's day.
func (l *Log) text(channel, day string) ([]byte, error) {
	raw, err := os.ReadFile(filepath.Join(l.dir, nameOf(channel, day)))
	if errors.Is(err, fs.ErrNotExist) { // its time was over just now
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	return raw[:bytes.LastIndexByte(raw, '\n')+1], nil
}

// Wanted says which lines are wanted, without reading them whole; empty fields leave
// nothing out. Lines are as encoding/json writes them, in which a quote within a text has
// a backslash before it: what is looked for can be no part of a text.
type Wanted struct {
	Run, Tool string
	NoRun     bool
	NoTool    bool
	Decision  string // as in records
	Refused   bool   // every decision but an allowed one
	Asked     bool
	Kind      string
	Named     bool // those that name their call: none that only counts, none about the log
}

type marks struct {
	has, lacks [][]byte
}

func (w Wanted) marks() (m marks) {
	for _, f := range [][2]string{{"run", w.Run}, {"tool", w.Tool}, {"decision", w.Decision}, {"kind", w.Kind}} {
		if f[1] == "" {
			continue
		}
		if text, err := json.Marshal(f[1]); err == nil { // a text can be written
			m.has = append(m.has, []byte(`"`+f[0]+`":`+string(text)))
		}
	}
	if w.Named {
		m.lacks = append(m.lacks, []byte(`"kind":"counted"`), []byte(`"kind":"`+KindLog+`"`))
	}
	if w.Refused {
		m.lacks = append(m.lacks, []byte(`"decision":"`+string(core.ApprovalAllowed)+`"`), []byte(`"kind":"`+KindLog+`"`))
	}
	if w.NoRun {
		m.lacks = append(m.lacks, markRun)
	}
	if w.NoTool {
		m.lacks = append(m.lacks, markTool)
	}
	if w.Asked {
		m.has = append(m.has, markDigest)
	}
	return m
}

var (
	markTool   = []byte(`"tool":"`)
	markDigest = []byte(`"digest":"`)
	markRun    = []byte(`"run":"`)
	markTime   = []byte(`"ts":"`)
	markKind   = []byte(`"kind":"`)
	markState  = []byte(`"decision":"`)
	markCalls  = []byte(`"calls":`)
	markTook   = []byte(`"latency_ms":`)
)

func (m marks) fit(line []byte) bool {
	for _, mark := range m.has {
		if !bytes.Contains(line, mark) {
			return false
		}
	}
	for _, mark := range m.lacks {
		if bytes.Contains(line, mark) {
			return false
		}
	}
	return true
}

// Before calls visit for the entries of a channel that fit, newest first, from the one
// before a place on, until visit returns false. An empty day is the newest, and line 0 the
// end of its file. Lines that are no records are left out.
func (l *Log) Before(channel string, w Wanted, day string, line int, visit func(Entry) bool) error {
	days, err := l.daysOf(channel)
	if err != nil {
		return err
	}
	m := w.marks()
	for _, d := range days {
		if day != "" && d > day {
			continue
		}
		text, err := l.text(channel, d)
		if err != nil {
			return err
		}
		n := bytes.Count(text, []byte("\n"))
		for ; len(text) > 0; n-- {
			begin := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
			one := text[begin:]
			text = text[:begin]
			if d == day && line > 0 && n >= line || !m.fit(one) {
				continue
			}
			var r Record
			if json.Unmarshal(one, &r) != nil {
				continue
			}
			if !visit(Entry{r, d, n}) {
				return nil
			}
		}
	}
	return nil
}

// Line is what Lines tells of one record. Its texts are as they are in the file, in which
// run and tool are ids and have nothing that JSON would write otherwise.
type Line struct {
	At              time.Time
	Run, Tool, Kind string
	State           string
	Asked           bool
	Calls, TookMs   int64
}

// Lines calls visit for each record of a channel that fits, oldest first, without reading
// it whole: a hundred thousand take a fraction of a second.
func (l *Log) Lines(channel string, w Wanted, visit func(Line)) error {
	days, err := l.daysOf(channel)
	if err != nil {
		return err
	}
	m := w.marks()
	for _, d := range slices.Backward(days) {
		text, err := l.text(channel, d)
		if err != nil {
			return err
		}
		for len(text) > 0 {
			end := bytes.IndexByte(text, '\n') + 1
			one := text[:end]
			text = text[end:]
			if m.fit(one) {
				visit(lineOf(one))
			}
		}
	}
	return nil
}

func lineOf(one []byte) Line {
	l := Line{Run: textAt(one, markRun), Tool: textAt(one, markTool), Kind: textAt(one, markKind), State: textAt(one, markState),
		Asked: bytes.Contains(one, markDigest), Calls: numberAt(one, markCalls), TookMs: numberAt(one, markTook)}
	if at, err := time.Parse(time.RFC3339Nano, textAt(one, markTime)); err == nil {
		l.At = at
	}
	return l
}

func textAt(line, mark []byte) string {
	i := bytes.Index(line, mark)
	if i < 0 {
		return ""
	}
	rest := line[i+len(mark):]
	return string(rest[:max(bytes.IndexByte(rest, '"'), 0)])
}

func numberAt(line, mark []byte) int64 {
	i := bytes.Index(line, mark)
	if i < 0 {
		return 0
	}
	rest := line[i+len(mark):]
	end := bytes.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	n, err := strconv.ParseInt(string(rest[:max(end, 0)]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Find returns the newest entry of a channel, or of all where it is empty, whose id begins
// with a text. many says that there is another id.
func (l *Log) Find(channel, id string) (found Entry, many bool, err error) {
	text, err := json.Marshal(id)
	if err != nil || id == "" {
		return found, false, err
	}
	mark := append([]byte(`"id":`), text[:len(text)-1]...)
	files, err := os.ReadDir(l.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return found, false, fmt.Errorf("list records: %w", err)
	}
	for _, f := range files {
		name := fileName.FindStringSubmatch(f.Name())
		if name == nil || channel != "" && name[1] != channel {
			continue
		}
		text, err := l.text(name[1], name[2])
		if err != nil {
			return found, false, err
		}
		n := 0
		for line := range bytes.Lines(text) {
			n++
			var r Record
			if !bytes.Contains(line, mark) || json.Unmarshal(line, &r) != nil || !strings.HasPrefix(r.ID, id) {
				continue
			}
			many = many || found.ID != "" && found.ID != r.ID
			if found.ID == "" || !r.At.Before(found.At) {
				found = Entry{r, name[2], n}
			}
		}
	}
	return found, many, nil
}

// Holds looks at one entry: it must be as it was written and follow the one before it in
// its file. of is how many that file has. broken is empty where it holds.
func (l *Log) Holds(e Entry) (of int, broken string, err error) {
	text, err := l.text(e.Channel, e.Day)
	if err != nil {
		return 0, "", err
	}
	n, before := 0, ""
	for line := range bytes.Lines(text) {
		switch n++; n {
		case e.Line - 1:
			before = textAt(line, []byte(`"hash":"`))
		case e.Line:
			r := e.Record
			want, err := hashOf(r)
			if err != nil {
				return 0, "", err
			}
			canonical, err := json.Marshal(r)
			if err != nil {
				return 0, "", fmt.Errorf("encode record: %w", err)
			}
			switch {
			case r.Hash != want || !bytes.Equal(append(canonical, '\n'), line):
				broken = "It is not as it was written."
			case n > 1 && r.Prev != before:
				broken = fmt.Sprintf("Entry %s does not follow %s.", grouped(n), grouped(n-1))
			}
		}
	}
	if e.Line > n {
		broken = "It is not there any more."
	}
	return n, broken, nil
}

// grouped writes a number with commas.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
