package auditlog

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Query says which records are wanted; empty fields leave nothing out.
type Query struct {
	Channel string
	Run     string // or the beginning of it
	ID      string // or the beginning of it
	Limit   int    // the newest so many; 0 is all
}

// Read returns the newest records that fit, oldest first. Lines that are no records are
// left out: VerifyAll names them.
func (l *Log) Read(q Query) ([]Record, error) {
	files, err := os.ReadDir(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list records: %w", err)
	}
	// By day first: a name begins with the channel.
	type dated struct{ day, name string }
	var days []dated
	for _, f := range files {
		if m := fileName.FindStringSubmatch(f.Name()); m != nil && (q.Channel == "" || m[1] == q.Channel) {
			days = append(days, dated{m[2], f.Name()})
		}
	}
	slices.SortFunc(days, func(a, b dated) int { return strings.Compare(b.day, a.day) })
	var out []Record
	for i, d := range days {
		if q.Limit > 0 && len(out) >= q.Limit && days[i-1].day != d.day {
			break
		}
		some, err := q.file(filepath.Join(l.dir, d.name))
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	slices.SortStableFunc(out, func(a, b Record) int { return a.At.Compare(b.At) })
	if q.Limit > 0 && len(out) > q.Limit {
		out = out[len(out)-q.Limit:]
	}
	return out, nil
}

func (q Query) file(name string) (out []Record, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) { // its time was over just now
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open records: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var r Record
		if json.Unmarshal(lines.Bytes(), &r) != nil || !strings.HasPrefix(r.Run, q.Run) || !strings.HasPrefix(r.ID, q.ID) {
			continue
		}
		if out = append(out, r); q.Limit > 0 && len(out) > 2*q.Limit {
			out = slices.Delete(out, 0, q.Limit)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	return out, nil
}
