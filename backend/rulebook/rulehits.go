package rulebook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"loop/backend/atomicfile"
	"loop/backend/core"
	"loop/backend/gate"
)

// uncounted says what hits leave out.
const uncounted = "Calls that the kernel's filter lets pass by itself, those that the supervisor could only count together, " +
	"and the last half minute before a crash of Loop are not counted."

const (
	// hitDays is how long hits are counted for, and staleAfter how long a rule may be
	// without one.
	hitDays    = 30
	staleAfter = 90 * 24 * time.Hour
	// maxHits bounds the rules that are kept, of all channels; those that were used longest
	// ago go first.
	maxHits     = 4096
	maxHitsFile = 8 << 20
	hitsEvery   = 30 * time.Second
	dayOfHits   = "2006-01-02"
)

// Hits counts for which calls rules have decided or asked, by channel, from the records of
// decisions. It is a gate.Audit in front of another one. Its methods may be called from any
// goroutine; Run keeps the counts in a file.
type Hits struct {
	file string
	next gate.Audit
	log  *slog.Logger

	mu    sync.Mutex
	kept  keptHits
	dirty bool
}

type keptHits struct {
	Since time.Time                               `json:"since"`
	Rules map[core.ChannelID]map[string]*ruleHits `json:"rules"`
	// Seen is when a rule was listed first: one that is new is not stale.
	Seen map[string]time.Time `json:"seen"`
}

type ruleHits struct {
	Last time.Time        `json:"last"`
	Days map[string]int64 `json:"days"` // of the last 30 with a hit
}

var _ gate.Audit = (*Hits)(nil)

// OpenHits reads the counts in Loop's folder. A file that cannot be read is begun anew: it
// decides nothing.
func OpenHits(home string, next gate.Audit, now time.Time, log *slog.Logger) *Hits {
	h := &Hits{file: filepath.Join(home, "gate", "hits.json"), next: next, log: cmp.Or(log, slog.New(slog.DiscardHandler))}
	raw, _, err := atomicfile.Read(h.file, maxHitsFile)
	if err == nil {
		err = json.Unmarshal(raw, &h.kept)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			h.log.Warn("counts of rules begin anew", "err", err)
		}
		h.kept = keptHits{}
	}
	if h.kept.Since.IsZero() {
		h.kept.Since = now.UTC()
	}
	if h.kept.Rules == nil {
		h.kept.Rules = map[core.ChannelID]map[string]*ruleHits{}
	}
	if h.kept.Seen == nil {
		h.kept.Seen = map[string]time.Time{}
	}
	return h
}

// Append implements gate.Audit.
func (h *Hits) Append(r gate.Record) error {
	if err := h.next.Append(r); err != nil {
		return err
	}
	if r.Rule == "" || r.Calls <= 0 || r.Decision == string(core.ApprovalWaiting) {
		return nil // the last says that an answer before it was not taken
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count(core.ChannelID(r.Channel), plainRule(r.Rule), r.At.UTC(), int64(r.Calls))
	return nil
}

// plainRule is the id of a rule without what it would have done.
func plainRule(id string) string {
	for _, prefix := range would {
		id = strings.TrimPrefix(id, prefix)
	}
	return id
}

func (h *Hits) count(ch core.ChannelID, rule string, at time.Time, calls int64) {
	of := h.kept.Rules[ch]
	if of == nil {
		of = map[string]*ruleHits{}
		h.kept.Rules[ch] = of
	}
	r := of[rule]
	if r == nil {
		h.prune()
		r = &ruleHits{Days: map[string]int64{}}
		of[rule] = r
	}
	h.dirty = true
	r.Days[at.Format(dayOfHits)] += calls
	if at.After(r.Last) {
		r.Last = at
	}
	if len(r.Days) > hitDays {
		for day := range r.Days {
			if day < at.AddDate(0, 0, -hitDays).Format(dayOfHits) {
				delete(r.Days, day)
			}
		}
	}
}

// prune makes room for one more rule.
func (h *Hits) prune() {
	n := 0
	for _, of := range h.kept.Rules {
		n += len(of)
	}
	if n < maxHits {
		return
	}
	var oldest *ruleHits
	var at core.ChannelID
	var id string
	for ch, of := range h.kept.Rules {
		for rule, r := range of {
			if oldest == nil || r.Last.Before(oldest.Last) {
				oldest, at, id = r, ch, rule
			}
		}
	}
	if delete(h.kept.Rules[at], id); len(h.kept.Rules[at]) == 0 {
		delete(h.kept.Rules, at)
	}
}

// of are the hits of a rule in channels, in all of them where there is no list.
func (h *Hits) of(rule string, channels []core.ChannelID, now time.Time) (hits int64, last time.Time) {
	oldest := now.UTC().AddDate(0, 0, -hitDays).Format(dayOfHits)
	for ch, of := range h.kept.Rules {
		r := of[rule]
		if r == nil || channels != nil && !slices.Contains(channels, ch) {
			continue
		}
		for day, n := range r.Days {
			if day > oldest {
				hits += n
			}
		}
		if r.Last.After(last) {
			last = r.Last
		}
	}
	return hits, last
}

// fill puts hits and last uses into a table. Rules of the baseline and of the settings count
// in all channels, the others in those of the project. Rules with one id share a count.
func (h *Hits) fill(t *table, tree []core.ChannelID, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.list.Since = h.kept.Since
	for i := range t.rows {
		s := &t.rows[i].shown
		in := tree
		if s.Scope == core.ScopeAlways || s.Scope == "" {
			in = nil
		}
		if s.ID != "" {
			s.Hits, s.LastUsed = h.of(s.ID, in, now)
		}
		if s.Scope == "" {
			continue
		}
		if h.kept.Seen[s.ID].IsZero() && len(h.kept.Seen) < maxHits {
			h.kept.Seen[s.ID], h.dirty = now.UTC(), true
		}
		known := h.kept.Seen[s.ID]
		if s.LastUsed.After(known) {
			known = s.LastUsed
		}
		s.Stale = !s.Off && now.Sub(known) > staleAfter
	}
}

// Run keeps the counts until ctx ends, and then once more.
func (h *Hits) Run(ctx context.Context) error {
	tick := time.NewTicker(hitsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			h.Keep()
		}
	}
}

// Keep writes the counts down where they are others than in the file.
func (h *Hits) Keep() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.dirty {
		return
	}
	raw, err := json.Marshal(h.kept)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(h.file), 0o700)
	}
	if err == nil {
		err = atomicfile.Keep(h.file, raw)
	}
	if err != nil {
		h.log.Warn("keep counts of rules", "err", fmt.Errorf("write %s: %w", h.file, err))
		return // tried again
	}
	h.dirty = false
}
