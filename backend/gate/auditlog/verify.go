package auditlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// BrokenError says where a file is not what was written.
type BrokenError struct {
	Line int // from 1
	Why  string
	Torn bool // only the last line is not whole: it was being written when the computer went down
}

func (e *BrokenError) Error() string { return fmt.Sprintf("line %d %s", e.Line, e.Why) }

// Sentence says it of an entry, which is what people call a line.
func (e *BrokenError) Sentence() string {
	why := strings.Replace(e.Why, fmt.Sprintf("line %d", e.Line-1), grouped(e.Line-1), 1)
	return fmt.Sprintf("Entry %s %s.", grouped(e.Line), why)
}

// Verify reads one file and returns how many records it holds and the hash that the
// record before its first one must have. A file that was changed is a *BrokenError.
func Verify(file string) (records int, before string, err error) {
	records, before, _, err = verify(file, -1)
	return records, before, err
}

// verify returns the hash of the last record as well. It reads so much of the file, all of
// it where size is negative.
func verify(file string, size int64) (records int, before, prev string, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return 0, "", "", fmt.Errorf("read records: %w", err)
	}
	if size >= 0 && size < int64(len(raw)) {
		raw = raw[:size]
	}
	for line := range strings.Lines(string(raw)) {
		records++
		var r Record
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&r); err != nil {
			return records, before, prev, &BrokenError{records, "is no record", !strings.HasSuffix(line, "\n")}
		}
		want, err := hashOf(r)
		if err != nil {
			return records, before, prev, err
		}
		// A record is compared as a whole line, so that nothing can hide in its spelling.
		canonical, err := json.Marshal(r)
		if err != nil {
			return records, before, prev, fmt.Errorf("encode record: %w", err)
		}
		switch {
		case r.Hash != want || string(canonical)+"\n" != line:
			return records, before, prev, &BrokenError{records, "is not as it was written", false}
		case records == 1:
			before = r.Prev
		case r.Prev != prev:
			return records, before, prev, &BrokenError{records, fmt.Sprintf("does not follow line %d", records-1), false}
		}
		prev = r.Hash
	}
	return records, before, prev, nil
}

// Checked is what VerifyAll has found of one file.
type Checked struct {
	File    string
	Channel string
	Day     string
	Records int
	Err     error // *BrokenError, or why it cannot be read; nil where it is as it was written
}

// VerifyAll reads every file, oldest first for each channel, and looks whether each goes on
// where the one before it ends. The oldest may follow one that was removed with its age.
// What is written meanwhile is left out, and waits for nothing.
func (l *Log) VerifyAll() ([]Checked, error) { return l.VerifyChannel("") }

// VerifyChannel is VerifyAll for one channel.
func (l *Log) VerifyChannel(channel string) ([]Checked, error) {
	files, sizes, err := l.standing()
	if err != nil {
		return nil, err
	}
	var out []Checked
	last := map[string]string{}
	for i, name := range files {
		m := fileName.FindStringSubmatch(name)
		if m == nil || channel != "" && m[1] != channel {
			continue
		}
		n, before, end, err := verify(filepath.Join(l.dir, name), sizes[i])
		if errors.Is(err, fs.ErrNotExist) {
			continue // its time was over just now
		}
		if want, known := last[m[1]]; err == nil && known && n > 0 && before != want {
			err = &BrokenError{1, "does not follow the file of the day before", false}
		}
		if n > 0 {
			last[m[1]] = end
		}
		out = append(out, Checked{File: name, Channel: m[1], Day: m[2], Records: n, Err: err})
	}
	return out, nil
}

// standing are the files and how long they are while no record is half written.
func (l *Log) standing() (names []string, sizes []int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	files, err := os.ReadDir(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list records: %w", err)
	}
	for _, f := range files {
		info, err := f.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("look at records: %w", err)
		}
		names, sizes = append(names, f.Name()), append(sizes, info.Size())
	}
	return names, sizes, nil
}
