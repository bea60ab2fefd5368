package archtest

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

type word string

type (
	inner struct {
		Deep [][]string `json:"deep"`
	}
	base struct {
		ID string `json:"id"`
	}
	sample struct {
		base
		Word   word              `json:"word,omitempty"`
		Plain  word              `json:"-"`
		Count  int               `json:"count,omitempty"` // of something
		At     time.Time         `json:"at,omitzero"`
		Always inner             `json:"always,omitempty"`
		Inner  *inner            `json:"inner"`
		Maybe  *inner            `json:"maybe,omitempty"`
		Names  map[string]string `json:"names"`
		Raw    json.RawMessage   `json:"raw"`
		Bytes  []byte            `json:"bytes"`
	}
	strict struct {
		Word word `json:"word"`
	}
)

// TestTypesAsJSONWritesThem covers the kinds of fields: missing, null, empty, embedded.
func TestTypesAsJSONWritesThem(t *testing.T) {
	at := reflect.TypeFor[word]().PkgPath() + "."
	src := sources{
		consts:   map[string][]string{at + "word": {"", "one", "two"}},
		comments: map[string]string{at + "sample.Count": "of something"},
	}
	c := newContract(src)
	c.of(reflect.TypeFor[sample]())
	want := `export type base = {
  id: string;
};

export type inner = {
  deep: (string[] | null)[] | null;
};

export type sample = base & {
  word?: word;
  count?: number; // of something
  at?: string;
  always: inner;
  inner: inner | null;
  maybe?: inner;
  names: Record<string, string> | null;
  raw: unknown;
  bytes: string;
};

export type word = "one" | "two";

`
	if got := c.declarations(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// The empty constant is part of the union where it is written.
	c = newContract(src)
	c.of(reflect.TypeFor[strict]())
	if got := c.enum(reflect.TypeFor[word]()); got != `"" | "one" | "two"` {
		t.Errorf("got %s", got)
	}
}
