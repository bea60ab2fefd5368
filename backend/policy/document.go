package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDocument bounds a policy document: 256 KiB, some two thousand rules.
const MaxDocument = 256 << 10

// ParseError is why a document is no policy, and where. Line and Column count from 1;
// a column is a character.
type ParseError struct {
	Line, Column int
	Message      string // a sentence
	Remedy       string // what to do, a sentence
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("policy, line %d, column %d: %s %s", e.Line, e.Column, e.Message, e.Remedy)
}

// Encode writes the policy as Parse reads it.
func (p Policy) Encode() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p.withLists()); err != nil {
		return nil // of strings and lists there is nothing that cannot be written
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// withLists has [] instead of null, in itself and in what tightens it.
func (p Policy) withLists() Policy {
	p.PathRules = append([]PathRule{}, p.PathRules...)
	p.CommandRules = append([]CommandRule{}, p.CommandRules...)
	p.FileRules = append([]FileRule{}, p.FileRules...)
	p.Tighten = slices.Clone(p.Tighten)
	for i := range p.Tighten {
		p.Tighten[i] = p.Tighten[i].withLists()
		if p.Tighten[i].DefaultDecision == "" {
			p.Tighten[i].DefaultDecision = Allow // which says nothing there
		}
	}
	if p.Agents != nil {
		p.Agents = &Agents{Files: append([]string{}, p.Agents.Files...), Policy: p.Agents.Policy.withLists()}
	}
	return p
}

// Parse reads a policy document strictly: what it does not know it refuses, as a rule
// that is misread is a rule that does not hold. Every error is a *ParseError. Parse
// checks all that Compile checks.
func Parse(doc []byte) (Policy, error) {
	r := &docReader{doc: doc}
	switch {
	case len(doc) > MaxDocument:
		return Policy{}, r.fail(MaxDocument, fmt.Sprintf("The policy has %d bytes, more than %d.", len(doc), MaxDocument),
			"Remove rules, or let one pattern stand for several.")
	case bytes.HasPrefix(doc, []byte("\xef\xbb\xbf")):
		return Policy{}, r.fail(0, "The policy begins with a byte order mark.", "Save the file as UTF-8 without one.")
	case len(bytes.TrimSpace(doc)) == 0:
		return Policy{}, r.fail(0, "The policy is empty.", `Write at least {"default_decision": "allow"}.`)
	}
	r.dec = jsontext.NewDecoder(bytes.NewReader(doc))
	var p Policy
	if err := r.policy(&p, wholePolicy); err != nil {
		return Policy{}, err
	}
	if rest := int(r.dec.InputOffset()); len(bytes.TrimSpace(doc[rest:])) > 0 {
		return Policy{}, r.fail(r.start(), "Something follows the policy.", "Remove what stands after the last “}”.")
	}
	c := compiler{}
	if _, err := c.whole(p); err != nil {
		// Every rule was compiled by itself, so only their number is left.
		return Policy{}, r.fail(0, sentence(err.Error()), "Let one pattern stand for several.")
	}
	return p, nil
}

// docReader reads the parts of a document and knows where it is.
type docReader struct {
	doc []byte
	dec *jsontext.Decoder
}

func (r *docReader) fail(offset int, message, remedy string) error {
	offset = min(max(offset, 0), len(r.doc))
	before := r.doc[:offset]
	line := bytes.LastIndexByte(before, '\n') + 1
	return &ParseError{
		Line: bytes.Count(before, []byte("\n")) + 1, Column: utf8.RuneCount(before[line:]) + 1,
		Message: message, Remedy: remedy,
	}
}

// start is where the next token begins.
func (r *docReader) start() int {
	at := int(r.dec.InputOffset())
	for at < len(r.doc) && strings.IndexByte(" \t\r\n,:", r.doc[at]) >= 0 {
		at++
	}
	return at
}

// syntax says in words what the decoder met.
func (r *docReader) syntax(err error) error {
	at := r.start()
	var s *jsontext.SyntacticError
	if errors.As(err, &s) {
		at = int(s.ByteOffset)
		err = s.Err
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return r.fail(at, "This key stands here a second time.", "Keep one of the two.")
	}
	return r.fail(at, "This is not JSON: "+err.Error()+".", "Correct it; JSON has no comments and no comma after the last element.")
}

var kindWords = map[jsontext.Kind]string{
	'n': "null", 'f': "true or false", 't': "true or false", '"': "a text", '0': "a number", '{': "an object", '[': "a list",
}

// open takes the token that begins a value of the wanted kind.
func (r *docReader) open(want jsontext.Kind, what string) (jsontext.Token, error) {
	at := r.start()
	kind := r.dec.PeekKind()
	tok, err := r.dec.ReadToken()
	if err != nil {
		return tok, r.syntax(err)
	}
	if kind != want {
		return tok, r.fail(at, fmt.Sprintf("%s is %s, and must be %s.", sentence(what), kindWords[kind], kindWords[want]),
			fmt.Sprintf("Write %s here.", kindWords[want]))
	}
	return tok, nil
}

// object reads an object whose keys are those of fields, each at most once.
func (r *docReader) object(what string, fields map[string]func() error) error {
	if _, err := r.open('{', what); err != nil {
		return err
	}
	for r.dec.PeekKind() == '"' {
		at := r.start()
		tok, err := r.dec.ReadToken()
		if err != nil {
			return r.syntax(err)
		}
		key := tok.String()
		field := fields[key]
		if field == nil {
			return r.fail(at, fmt.Sprintf("%s has no key %q.", sentence(what), key), r.keyRemedy(key, fields))
		}
		if err := field(); err != nil {
			return err
		}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return r.syntax(err)
	}
	return nil
}

func (r *docReader) keyRemedy(key string, fields map[string]func() error) string {
	known := make([]string, 0, len(fields))
	for name := range fields {
		if strings.EqualFold(name, key) {
			return fmt.Sprintf("Write it as %q.", name)
		}
		known = append(known, name)
	}
	slices.Sort(known)
	return "The keys are " + strings.Join(known, ", ") + "."
}

// list reads a list and calls element for each.
func (r *docReader) list(what string, element func() error) error {
	if _, err := r.open('[', what); err != nil {
		return err
	}
	for {
		switch r.dec.PeekKind() {
		case ']':
			if _, err := r.dec.ReadToken(); err != nil {
				return r.syntax(err)
			}
			return nil
		case 0:
			_, err := r.dec.ReadToken()
			return r.syntax(err)
		}
		if err := element(); err != nil {
			return err
		}
	}
}

// truth reads a yes or no.
func (r *docReader) truth(what string, to *bool) error {
	kind := r.dec.PeekKind()
	if kind != 't' {
		kind = 'f'
	}
	tok, err := r.open(kind, what)
	if err == nil {
		*to = tok.Bool()
	}
	return err
}

// text reads a string and where it begins.
func (r *docReader) text(what string) (s string, at int, err error) {
	at = r.start()
	tok, err := r.open('"', what)
	if err != nil {
		return "", at, err
	}
	return tok.String(), at, nil
}

// sentence begins with a capital letter and ends with nothing.
func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
