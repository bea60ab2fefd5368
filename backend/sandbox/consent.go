package sandbox

import (
	"bytes"
	"encoding/json"
)

// MaxConsentSize bounds .claude.json. The CLI keeps histories and caches in
// it, so it may be some MiB; an agent can write it, so it must have a bound.
const MaxConsentSize = 16 << 20

var byteOrderMark = []byte("\xef\xbb\xbf")

// MergeConsent gives the .claude.json with which the CLI starts without asking
// anything: onboarding done, unattended mode accepted, and workDir (as the
// container knows it) trusted. All other fields stay as they are; text that
// has all of this is returned unchanged. Fields and projects that only earlier
// has are taken over. An object that cannot be read begins anew, which damaged
// says for a notice.
func MergeConsent(existing, earlier []byte, workDir string) (merged []byte, damaged bool) {
	changed := bytes.HasPrefix(existing, byteOrderMark) // which the CLI does not take
	object := func(raw []byte) map[string]json.RawMessage {
		m, ok := consentObject(raw)
		damaged = damaged || !ok
		return m
	}
	set := func(m map[string]json.RawMessage, key, value string) {
		changed = changed || string(m[key]) != value
		m[key] = json.RawMessage(value)
	}
	fill := func(m, from map[string]json.RawMessage) {
		for key, value := range from {
			if _, has := m[key]; !has {
				set(m, key, string(value))
			}
		}
	}

	top := object(existing)
	projects := object(top["projects"])
	old, _ := consentObject(earlier)
	oldProjects, _ := consentObject(old["projects"])
	fill(projects, oldProjects)
	fill(top, old)
	project := object(projects[workDir])
	set(project, "hasTrustDialogAccepted", "true")
	set(project, "hasCompletedProjectOnboarding", "true")
	set(top, "hasCompletedOnboarding", "true")
	set(top, "bypassPermissionsModeAccepted", "true")
	if !changed && !damaged {
		return existing, false
	}
	projects[workDir] = encodeObject(project)
	top["projects"] = encodeObject(projects)
	return append(encodeObject(top), '\n'), damaged
}

// consentObject reads one JSON object, an empty one where it cannot; values stay
// as they were written, so that large numbers and unknown fields survive.
func consentObject(raw []byte) (m map[string]json.RawMessage, ok bool) {
	raw = bytes.TrimSpace(bytes.TrimPrefix(raw, byteOrderMark))
	if len(raw) <= MaxConsentSize && json.Unmarshal(raw, &m) == nil && m != nil {
		return m, true
	}
	return map[string]json.RawMessage{}, len(raw) == 0
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
