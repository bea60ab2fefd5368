//go:build linux

package initd

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"

	"loop/backend/wire"
)

// refuse keeps everybody out of a container whose mounts are not where the host wanted them, and
// reports whether it is one. A link in the image leads a mount elsewhere, to a place that the agent may
// own: from there it could put a program of its own where the host looks for loop.
func refuse(ctx context.Context, log *slog.Logger) (bool, error) {
	info, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return false, fmt.Errorf("look at the mounts: %w", err)
	}
	why := misplaced(string(info), os.Getenv(wire.Places))
	if why == "" {
		return false, nil
	}
	log.Error("the container is refused", "why", why)
	if err := os.WriteFile(wire.RefusedFile, []byte(why), 0o600); err != nil {
		return true, fmt.Errorf("say why the container is refused: %w", err)
	}
	<-ctx.Done()
	return true, nil
}

// misplaced says which of the places, one a line, has nothing mounted on it, or lies in a mount
// that the host did not want; empty if all is well.
func misplaced(mountInfo, places string) string {
	var there []string
	for line := range strings.Lines(mountInfo) {
		if f := strings.Fields(line); len(f) > 4 {
			there = append(there, unescaped(f[4]))
		}
	}
	known := map[string]bool{}
	for place := range strings.Lines(places) {
		known[strings.TrimPrefix(strings.TrimSuffix(place, "\n"), wire.PlaceWithin)] = true
	}
	for place := range strings.Lines(places) {
		place = strings.TrimSuffix(place, "\n")
		if strings.HasPrefix(place, wire.PlaceWithin) || place == "" {
			continue
		}
		if !slices.Contains(there, place) {
			return fmt.Sprintf("The image has a link on the way to %s, where something is mounted. Loop does not work in such an image.", place)
		}
		for _, m := range there {
			if m != "/" && m != place && strings.HasPrefix(place, m+"/") && !known[m] {
				return fmt.Sprintf("The image has a volume at %s, above %s. Loop does not work in such an image.", m, place)
			}
		}
	}
	return ""
}

// unescaped reads a path as the kernel writes it: blanks and backslashes in octal.
func unescaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
