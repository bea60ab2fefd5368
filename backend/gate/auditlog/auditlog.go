// Package auditlog writes the decisions of the gate down, one JSON object a line, in a
// file for each channel and day in a folder that no container sees. Each record holds
// the hash of the one before it, so that a record that was changed, taken out or put
// in shows. One that was cut off at the end does not, nor does a file that is gone.
// Only packages gate, rulebook and daemon may import it.
package auditlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

// Record is one decision.
type Record struct {
	At        time.Time `json:"ts"`
	Channel   string    `json:"channel"`
	Run       string    `json:"run,omitempty"`
	Spawn     string    `json:"spawn"`
	Pid       int       `json:"pid,omitempty"`
	Kind      string    `json:"kind"`
	Operation string    `json:"operation"`
	Target    string    `json:"target"`
	Rule      string    `json:"rule,omitempty"`
	Decision  string    `json:"decision"`
	By        string    `json:"by"`
	Scope     string    `json:"scope,omitempty"`
	LatencyMs int64     `json:"latency_ms"`
	Calls     int       `json:"calls"`
	Policy    string    `json:"policy"` // its version
	ID        string    `json:"id,omitempty"`
	Tool      string    `json:"tool,omitempty"`     // the tool call that caused it
	Digest    string    `json:"digest,omitempty"`   // of what a person was shown
	Category  string    `json:"category,omitempty"` // of the rule
	Exe       string    `json:"exe,omitempty"`      // the program's file, as the kernel names it
	Command   string    `json:"command,omitempty"`  // what the process says of itself
	Prev      string    `json:"prev"`               // hash of the record before it; empty in the first of a channel
	Hash      string    `json:"hash"`               // SHA-256 in hex of this record with an empty hash
}

const (
	// Retention is how long files are kept; the original's default.
	Retention = 30 * 24 * time.Hour
	maxLine   = 128 << 10
	day       = "2006-01-02"
)

var fileName = regexp.MustCompile(`^([0-9A-Za-z_-]{1,64})-(\d{4}-\d{2}-\d{2})\.jsonl$`)

// Log appends to the files of a folder. Its methods may be called from any goroutine.
type Log struct {
	dir string

	mu   sync.Mutex
	last map[string]end // of each channel
	day  string         // when old files were looked for last
}

// end is where a channel's chain is.
type end struct {
	hash string
	day  string // of its newest file
}

// Open returns the log of a folder, which is made with the first record.
func Open(dir string) *Log { return &Log{dir: dir, last: map[string]end{}} }

// Append writes one record; At, Channel and the rest are the caller's, Prev and Hash
// are not. After an error the file is what it was before. A record that is told late goes
// after those that are there, also where their day has begun since. A channel's first
// record of a day, and of a process, comes after one that says so if the file before it is
// not what was written.
func (l *Log) Append(r Record) error {
	if !fileName.MatchString(nameOf(r.Channel, r.At.UTC().Format(day))) {
		return fmt.Errorf("append record: no channel %q", r.Channel)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return fmt.Errorf("make folder of records: %w", err)
	}
	l.prune(r.At)
	at, known := l.last[r.Channel]
	today := max(r.At.UTC().Format(day), at.day)
	if !known || at.day != today {
		var err error
		if at, err = l.begin(r, today, at, known); err != nil {
			return err
		}
	}
	return l.write(r, end{at.hash, today})
}

// begin looks at the newest file of a channel before the next is begun, or before it goes
// on in a new process.
func (l *Log) begin(r Record, today string, at end, known bool) (end, error) {
	if !known {
		var err error
		if at, err = l.lastHash(r.Channel); err != nil {
			return at, err
		}
	}
	if at.day == "" {
		return at, nil // the first record of all
	}
	name := nameOf(r.Channel, at.day)
	_, _, err := Verify(filepath.Join(l.dir, name))
	broken, is := errors.AsType[*BrokenError](err)
	if !is || broken.Torn {
		return at, nil
	}
	found := Record{At: r.At, Channel: r.Channel, Spawn: "-", Kind: KindLog, Operation: "verify", Target: name + ": " + broken.Error(),
		Decision: "broken", By: "Loop"}
	if err := l.write(found, end{at.hash, max(today, at.day)}); err != nil {
		return at, err
	}
	return l.last[r.Channel], nil
}

// KindLog is the kind of a record about the log itself.
const KindLog = "log"

func nameOf(channel, day string) string { return channel + "-" + day + ".jsonl" }

// write appends to the file of a day.
func (l *Log) write(r Record, at end) error {
	f, err := os.OpenFile(filepath.Join(l.dir, nameOf(r.Channel, at.day)), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open records: %w", err)
	}
	defer f.Close()
	place, err := wholeLines(f)
	if err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	r.At, r.Prev, r.Hash = r.At.UTC(), at.hash, ""
	r.Hash, err = hashOf(r)
	if err != nil {
		return err
	}
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode record: %w", err)
	}
	if _, err := f.WriteAt(append(line, '\n'), place); err != nil {
		return errors.Join(fmt.Errorf("write record: %w", err), f.Truncate(place))
	}
	l.last[r.Channel] = end{r.Hash, at.day}
	return nil
}

// wholeLines is where the next record goes. What a computer that went down left of a
// record was never acknowledged, and is taken away.
func wholeLines(f *os.File) (int64, error) {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil || end == 0 {
		return 0, err
	}
	n := min(end, maxLine)
	tail := make([]byte, n)
	if _, err := f.ReadAt(tail, end-n); err != nil {
		return 0, err
	}
	keep := end - n + int64(bytes.LastIndexByte(tail, '\n')+1)
	if keep == end {
		return end, nil
	}
	return keep, f.Truncate(keep)
}

// lastHash is the hash of a channel's newest record, and the day of its file.
func (l *Log) lastHash(channel string) (end, error) {
	files, err := os.ReadDir(l.dir) // in the order of names, which for one channel is that of days
	if err != nil {
		return end{}, fmt.Errorf("list records: %w", err)
	}
	for i := len(files) - 1; i >= 0; i-- {
		m := fileName.FindStringSubmatch(files[i].Name())
		if m == nil || m[1] != channel {
			continue
		}
		raw, err := tail(filepath.Join(l.dir, files[i].Name()))
		if err != nil {
			return end{}, fmt.Errorf("read records: %w", err)
		}
		whole := bytes.TrimSpace(raw[:bytes.LastIndexByte(raw, '\n')+1])
		var r Record
		if last := whole[bytes.LastIndexByte(whole, '\n')+1:]; len(last) > 0 {
			if err := json.Unmarshal(last, &r); err != nil {
				return end{"changed", m[2]}, nil //nolint:nilerr // the chain is broken, and shows that from here on
			}
			return end{r.Hash, m[2]}, nil
		}
	}
	return end{}, nil
}

// tail is the end of a file, with the last whole line and one that was cut off.
func tail(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	raw := make([]byte, min(size, 2*maxLine))
	_, err = f.ReadAt(raw, size-int64(len(raw)))
	return raw, err
}

// prune removes files that are older than Retention, once a day.
func (l *Log) prune(now time.Time) {
	today := now.UTC().Format(day)
	if l.day == today {
		return
	}
	l.day = today
	oldest := now.Add(-Retention).UTC().Format(day)
	files, err := os.ReadDir(l.dir)
	if err != nil {
		return
	}
	for _, f := range files {
		if m := fileName.FindStringSubmatch(f.Name()); m != nil && m[2] < oldest {
			_ = os.Remove(filepath.Join(l.dir, f.Name())) // tried again tomorrow
		}
	}
}

func hashOf(r Record) (string, error) {
	r.Hash = ""
	raw, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("encode record: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}
