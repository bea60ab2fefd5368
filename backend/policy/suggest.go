package policy

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// cacheFolders hold what programs make again when it is missing, so that one answer
// may stand for all of it.
var cacheFolders = []string{
	".cache", ".npm", ".pnpm-store", "node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache",
	".gradle", ".tox", ".nox", ".next", ".turbo", ".parcel-cache", "target", ".terraform",
}

// Suggest gives the rules that an answer to a question about a file could store,
// narrowest first: for exactly that file, with the lock file beside it where git's way
// of writing needs one, and for the cache that the file lies in. The rules allow;
// whoever remembers a denial changes the decision. There are none for what is never
// remembered, for a path that cannot be shown or written down, or for one that the
// baseline does not let anybody change.
func Suggest(op Operation, file string, place Place) []FileRule {
	if _, known := slotOf(op); !known || !path.IsAbs(file) || !utf8.ValidString(file) || strings.ContainsFunc(file, hidden) {
		return nil
	}
	if path.Clean(file) != file || file == "/" || len(file) > maxPattern/2 {
		return nil
	}
	p, err := Baseline(NameAgent, place)
	if err != nil {
		return nil
	}
	e, err := Compile(p)
	if err != nil {
		return nil
	}
	says := e.File(op, file)
	if !says.Category.Remembered() || says.Decision == Deny {
		return nil
	}
	ops := []Operation{op}
	if op == Write || op == Create {
		ops = []Operation{Write, Create} // by a rename it is one or the other
	}
	pattern := Quote(file)
	if says.Rule == ruleGitConfig || says.Rule == ruleGitHome {
		pattern += "{,.lock}"
		if op == Write || op == Create {
			ops = append(ops, Delete) // the lock file's name goes away
		}
	}
	rules := []FileRule{{Paths: []string{pattern}, Operations: ops, Decision: Allow}}
	if says.Category == Startup {
		return rules // next to it lies something else that runs
	}
	if folder := cacheOf(file); folder != "" {
		// Nothing that the baseline minds may hide in it.
		if v := e.Under(op, folder); v.Decision == Allow || v.Rule == "startup.venv" {
			rules = append(rules, FileRule{Paths: []string{Quote(folder) + "/**"}, Operations: ops, Decision: Allow})
		}
	}
	return rules
}

// cacheOf is the innermost cache that a file lies in.
func cacheOf(file string) string {
	for dir := path.Dir(file); dir != "/"; dir = path.Dir(dir) {
		if slices.Contains(cacheFolders, path.Base(dir)) {
			return dir
		}
	}
	return ""
}
