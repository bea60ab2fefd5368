package sandbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"loop/backend/core"
)

// SharedOwner stands for a channel where the state of the container is that all channels
// share: it is no channel's id, which are random.
const SharedOwner core.ChannelID = "shared"

// scope says who shares a container, and whose state it has.
type scope struct {
	key    string         // empty is nobody
	owner  core.ChannelID // of home and spool
	memory core.ChannelID // of Claude's folder
	slug   string         // what the container's name says of it
	wide   bool           // channels share it
}

// scopeOf is the scope of what the subject is for. Where each run has a container of its
// own, the terminals of a channel share one all the same. The demo's runs have other rights
// than anybody's.
func scopeOf(m Settings, sub Subject, base string) scope {
	ch, kind := sub.Channel, scopeKind(m, sub.Channel)
	sc := scope{owner: ch.ID, memory: StateOwner(m, ch), slug: base}
	switch {
	case !sub.Shared || sub.Plan:
	case kind == ScopeShared:
		sc.key, sc.owner, sc.slug, sc.wide = ScopeShared, SharedOwner, ScopeShared, true
	case kind == ScopeAgent:
		sc.key, sc.owner, sc.wide = ScopeAgent+":"+m.Agent+":"+string(ch.StateOwner()), ch.StateOwner(), true
		sc.slug = ScopeAgent + "-" + m.Agent + "-" + base
	case kind == ScopeSession:
		sc.key = sessionScope(ch.ID)
	case sub.Type == core.TypeShell:
		sc.key = shellScope(ch.ID)
	}
	return sc
}

// scopeKind is the settings' scope, as far as it can be. All channels share what is the same
// for each: their folders under their own paths, or one copy at one path.
func scopeKind(m Settings, ch core.Channel) string {
	kind := m.Scope.Value
	copied, one := m.Access.Value == AccessNone, m.Layout.Value == LayoutWorkspace
	switch {
	case ch.Kind == core.KindDemo && kind != ScopeRun:
		return ScopeSession
	case kind == ScopeShared && copied != one:
		return ScopeAgent
	}
	return kind
}

func sessionScope(ch core.ChannelID) string { return ScopeSession + ":" + string(ch) }
func shellScope(ch core.ChannelID) string   { return string(core.TypeShell) + ":" + string(ch) }

// ScopesOf are the scopes in which a channel's work may be: those of its own, and the one
// that it shares with others by the settings.
func ScopesOf(m Settings, ch core.Channel) []string {
	all := []string{sessionScope(ch.ID), shellScope(ch.ID)}
	if sc := scopeOf(m, Subject{Channel: ch, Shared: true, Type: core.TypeAgent}, ""); sc.wide {
		all = append(all, sc.key)
	}
	return all
}

// Serves reports whether the work of a channel may be in a container.
func Serves(c core.Container, ch core.Channel) bool {
	return c.ChannelID == ch.ID || c.ChannelID == SharedOwner ||
		c.ChannelID == ch.StateOwner() && (c.Scope == "" || strings.HasPrefix(c.Scope, ScopeAgent+":"))
}

// StateOwner is the channel in whose state Claude keeps a channel's conversations.
func StateOwner(m Settings, ch core.Channel) core.ChannelID {
	if scopeKind(m, ch) == ScopeShared {
		return SharedOwner
	}
	return ch.StateOwner()
}

// fits reports whether a scope may be that of a container with the state of an owner.
func fits(key string, owner core.ChannelID) bool {
	rest, agent := strings.CutPrefix(key, ScopeAgent+":")
	id, of, _ := strings.Cut(rest, ":")
	return slices.Contains([]string{sessionScope(owner), shellScope(owner)}, key) && owner != SharedOwner ||
		key == ScopeShared && owner == SharedOwner ||
		agent && id != "" && of == string(owner) && owner != SharedOwner
}

// scopeName is the name of a scope's container: the same each time, and another for each
// install and scope, whatever the slugs have in common.
func scopeName(prefix, install string, sc scope) string {
	sum := sha256.Sum256([]byte(install + "\x00" + sc.key))
	slug := NameBase(sc.slug)
	slug = strings.TrimRight(slug[:min(len(slug), maxSlug)], "-")
	name := cmp.Or(prefix, DefaultPrefix) + cmp.Or(slug, "channel")
	end := "-" + hex.EncodeToString(sum[:4])
	return name[:min(len(name), maxName-len(end))] + end
}
