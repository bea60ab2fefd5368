package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MaxConsentSize bounds .claude.json. The CLI keeps histories and caches in
// it, so it may be some MiB; an agent can write it, so it must have a bound.
const MaxConsentSize = 16 << 20

var byteOrderMark = []byte("\xef\xbb\xbf")

// MergeConsent gives the .claude.json with which the CLI starts without asking
// anything: onboarding done, unattended mode accepted, and workDir (as the
// container knows it) trusted. All other fields stay as they are; text that
// has all of this is returned unchanged. Fields and projects that only earlier
// has are taken over. Text that is no JSON object is replaced; reset then says
// why, for a notice.
func MergeConsent(existing, earlier []byte, workDir string) (merged []byte, reset string) {
	changed := bytes.HasPrefix(existing, byteOrderMark) // which the CLI does not take
	object := func(raw []byte, what string) map[string]json.RawMessage {
		m, bad := consentObject(raw)
		if bad != "" {
			changed = true
			if reset == "" {
				reset = what + " " + bad + " and was started afresh"
			}
		}
		return m
	}
	yes := func(m map[string]json.RawMessage, key string) {
		changed = changed || string(m[key]) != "true"
		m[key] = json.RawMessage("true")
	}
	fill := func(m, from map[string]json.RawMessage) {
		for key, value := range from {
			if _, has := m[key]; !has {
				m[key], changed = value, true
			}
		}
	}

	top := object(existing, "it")
	projects := object(top["projects"], "its list of projects")
	old, _ := consentObject(earlier)
	oldProjects, _ := consentObject(old["projects"])
	fill(projects, oldProjects)
	fill(top, old)
	p := object(projects[workDir], fmt.Sprintf("its entry for %q", workDir))
	yes(p, "hasTrustDialogAccepted")
	yes(p, "hasCompletedProjectOnboarding")
	yes(top, "hasCompletedOnboarding")
	yes(top, "bypassPermissionsModeAccepted")
	if !changed {
		return existing, ""
	}
	projects[workDir] = encodeObject(p)
	top["projects"] = encodeObject(projects)
	return append(encodeObject(top), '\n'), reset
}

// consentObject reads one JSON object; values stay as they were written, so
// that large numbers and unknown fields survive.
func consentObject(raw []byte) (m map[string]json.RawMessage, bad string) {
	raw = bytes.TrimSpace(bytes.TrimPrefix(raw, byteOrderMark))
	switch {
	case len(raw) == 0:
	case len(raw) > MaxConsentSize:
		bad = fmt.Sprintf("was larger than %d MiB", MaxConsentSize>>20)
	case json.Unmarshal(raw, &m) != nil || m == nil:
		bad = "was not a JSON object"
	}
	if bad != "" || m == nil {
		m = map[string]json.RawMessage{}
	}
	return m, bad
}

// encodeObject cannot fail: every value came out of a successful Unmarshal or
// out of this function.
func encodeObject(m map[string]json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return json.RawMessage("{}")
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
