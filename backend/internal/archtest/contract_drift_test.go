package archtest

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

type word string

type inner struct {
	Deep []string `json:"deep"`
}

type base struct {
	ID string `json:"id"`
}

type sample struct {
	base
	Word   word              `json:"word"`
	Count  int               `json:"count,omitempty"`
	At     time.Time         `json:"at,omitzero"`
	Inner  *inner            `json:"inner"`
	Names  map[string]string `json:"names"`
	Hidden string            `json:"-"`
}

const good = `
// a comment with "quotes'
export type Word = "one" | "two";
export type Base = { id: string };
export interface Inner { deep: readonly string[] | null }
export type Sample = Base & { word: Word; count?: number /* how many */; at?: string, inner: Inner | null
  names: Record<string, string> };
export type Fn = (x: string) => void;
`

func drift(t *testing.T, src, name string, dir direction) []string {
	t.Helper()
	toks, err := tsTokens(src)
	if err != nil {
		t.Fatal(err)
	}
	c := &contract{decls: tsDecls("x.ts", toks), seen: map[string]bool{}, used: map[string]bool{}, consts: func(g reflect.Type) []string {
		if g == reflect.TypeFor[word]() {
			return []string{"", "one", "two"}
		}
		return nil
	}}
	c.compare("it", reflect.TypeFor[sample](), tsType{kind: tsName, name: name}, dir)
	return c.problems
}

// TestDriftIsSeen changes one thing at a time on the page's side.
func TestDriftIsSeen(t *testing.T) {
	if p := drift(t, good, "Sample", toPage); len(p) > 0 {
		t.Fatalf("no drift, and yet: %q", p)
	}
	for _, tc := range []struct{ name, old, new, want string }{
		{"field gone", "names: Record<string, string>", "", "Sample.names is in Go only"},
		{"field of an embedded struct gone", "{ id: string }", "{}", "Sample.id is in Go only"},
		{"nested field gone", "deep: readonly string[] | null", "", "Inner.deep is in Go only"},
		{"field too many", "inner: ", "extra: number; inner: ", "Sample.extra is in TypeScript only"},
		{"field renamed", "word: Word", "Word: Word", "Sample.Word is in TypeScript only"},
		{"number for string", "id: string", "id: number", "Sample.id is a string in Go"},
		{"string for number", "count?: number", "count?: string", "Sample.count is a number in Go"},
		{"always there", "count?:", "count:", "Sample.count may be missing"},
		{"never null", "Inner | null", "Inner", "Sample.inner may be null"},
		{"list of another kind", "string[]", "number[]", "Inner.deep[] is a string in Go"},
		{"no list", "readonly string[]", "string", "Inner.deep is a list in Go"},
		{"no map", "Record<string, string>", "string[]", "Sample.names is a map in Go"},
		{"word too few", `"one" | "two"`, `"one"`, `Sample.word may be "two"`},
		{"word too many", `"one" |`, `"one" | "three" |`, `Sample.word lists "three"`},
		{"unknown type", "Base &", "Basis &", "no type Basis"},
		{"another alias", "word: Word", "word: Fn", "the type Fn in x.ts is not understood"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if !strings.Contains(good, tc.old) {
				t.Fatalf("%q is not in the sample", tc.old)
			}
			if p := drift(t, strings.Replace(good, tc.old, tc.new, 1), "Sample", toPage); !strings.Contains(strings.Join(p, "\n"), tc.want) {
				t.Errorf("%q does not hold %q", p, tc.want)
			}
		})
	}
}

// TestWhatThePageSends may leave out what Go leaves out, and nothing else.
func TestWhatThePageSends(t *testing.T) {
	without := strings.Replace(good, "count?: number /* how many */; at?: string,", "", 1)
	if p := drift(t, without, "Sample", toLoop); len(p) > 0 {
		t.Errorf("%q", p)
	}
	if p := drift(t, strings.Replace(good, "word: Word;", "", 1), "Sample", toLoop); !strings.Contains(strings.Join(p, "\n"), "Sample.word is in Go only") {
		t.Errorf("%q", p)
	}
}

type service struct{}

func (service) Do(string, sample) (inner, error) { return inner{}, nil }
func (service) Drop(string) error                { return nil }

// TestCallDriftIsSeen reads calls as they are written in frontend/src/api.
func TestCallDriftIsSeen(t *testing.T) {
	svc := reflect.ValueOf(service{})
	methods := map[string]reflect.Type{"S.Do": svc.MethodByName("Do").Type(), "S.Drop": svc.MethodByName("Drop").Type()}
	const full = `(id: string, w: Word, rest: Sample) => call<Inner>("S", "Do", id, { id: "x", word: w, names: {}, inner: null })`
	for _, tc := range []struct{ name, src, want string }{
		{"as it is", full, ""},
		{"spread", `(id: string, rest: Sample) => call<Inner>("S", "Do", id, { ...rest })`, ""},
		{"nothing expected", `(id: string) => call<null>("S", "Drop", id)`, ""},
		{"the definition itself", `async function call<T>(service: string) {}`, ""},
		{"no such method", `() => call<null>("S", "Undo")`, "S.Undo, which is not bound"},
		{"argument too few", `(id: string) => call<Inner>("S", "Do", id)`, "gives S.Do 1 arguments, it takes 2"},
		{"argument too many", `(id: string) => call<null>("S", "Drop", id, 3)`, "gives S.Drop 2 arguments, it takes 1"},
		{"argument of another kind", `(id: number) => call<null>("S", "Drop", id)`, "argument 1 is a string in Go"},
		{"result where there is none", `(id: string) => call<Inner>("S", "Drop", id)`, "answers nothing"},
		{"another result", strings.Replace(full, "<Inner>", "<string>", 1), "S.Do() is an object in Go"},
		{"field too many", strings.Replace(full, "inner: null", "inner: null, nope: 1", 1), "nope is in TypeScript only"},
		{"field too few", strings.Replace(full, "word: w,", "", 1), "word is in Go only"},
		{"names that are not written out", `(m: string) => call<null>("S", m)`, "two strings"},
		{"arguments that cannot be counted", `(...a: string[]) => call<null>("S", "Drop", ...a)`, "one by one"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			toks, err := tsTokens(good + tc.src)
			if err != nil {
				t.Fatal(err)
			}
			c := &contract{decls: tsDecls("x.ts", toks), seen: map[string]bool{}, used: map[string]bool{}, consts: func(reflect.Type) []string { return nil }}
			for _, call := range pageCalls("x.ts", toks) {
				c.compareCall(call, methods)
			}
			if got := strings.Join(c.problems, "\n"); tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
