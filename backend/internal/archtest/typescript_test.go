package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// As much of TypeScript's types as the shapes in frontend/src/api use. It is
// read here and not by the compiler, so that go test needs no node.

// tsType is one type. Kind says which of the other fields count.
type tsType struct {
	kind   tsKind
	name   string    // tsName: the alias or built-in type; tsLiteral: the text of a string
	fields []tsField // tsObject
	parts  []tsType  // tsUnion, tsBoth: the members; tsList, tsMap: the element; tsPartial: the type
}

type tsKind string

const (
	tsName    tsKind = "name"
	tsLiteral tsKind = "literal"
	tsObject  tsKind = "object"
	tsList    tsKind = "array"
	tsMap     tsKind = "record"
	tsUnion   tsKind = "union"
	tsBoth    tsKind = "intersection"
	tsPartial tsKind = "partial"
)

type tsField struct {
	name     string
	optional bool
	typ      tsType
}

// tsToken is a name, a punctuation mark, or a string with its first quote kept
// in front, so that the three are told apart by their first byte.
type tsToken struct {
	text string
	line int
}

func (t tsToken) isString() bool { return t.text[0] == '"' || t.text[0] == '`' }
func (t tsToken) isName() bool   { return isNameByte(t.text[0]) }

func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// tsTokens splits source without regular expressions or JSX, which the files
// in frontend/src/api do without.
func tsTokens(src string) (out []tsToken, err error) {
	line := 1
	for i := 0; i < len(src); {
		c, rest, n := src[i], src[i:], 1
		add := true
		switch {
		case c == '\n' || c == ' ' || c == '\t' || c == '\r':
			add = false
		case strings.HasPrefix(rest, "//"):
			add = false
			if n = strings.IndexByte(rest, '\n'); n < 0 {
				n = len(rest)
			}
		case strings.HasPrefix(rest, "/*"):
			add = false
			end := strings.Index(rest, "*/")
			if end < 0 {
				return nil, fmt.Errorf("line %d: comment without an end", line)
			}
			n = end + 2
		case c == '"' || c == '\'' || c == '`':
			for n < len(rest) && rest[n] != c {
				if rest[n] == '\\' {
					n++
				}
				n++
			}
			if n >= len(rest) {
				return nil, fmt.Errorf("line %d: string without an end", line)
			}
			mark := "\""
			if c == '`' {
				mark = "`"
			}
			out = append(out, tsToken{mark + rest[1:n], line})
			n, add = n+1, false
		case isNameByte(c):
			for n < len(rest) && isNameByte(rest[n]) {
				n++
			}
		case strings.HasPrefix(rest, "..."):
			n = 3
		case strings.HasPrefix(rest, "=>"):
			n = 2
		}
		if add {
			out = append(out, tsToken{rest[:n], line})
		}
		line += strings.Count(rest[:n], "\n")
		i += n
	}
	return out, nil
}

// tsParser reads types from tokens.
type tsParser struct {
	toks []tsToken
	at   int
}

func (p *tsParser) peek() string {
	if p.at < len(p.toks) {
		return p.toks[p.at].text
	}
	return ""
}

func (p *tsParser) take(text string) bool {
	if p.peek() != text {
		return false
	}
	p.at++
	return true
}

func (p *tsParser) want(text string) error {
	if p.take(text) {
		return nil
	}
	line := 0
	if p.at < len(p.toks) {
		line = p.toks[p.at].line
	}
	return fmt.Errorf("line %d: %q where this test expects %q", line, p.peek(), text)
}

// typ reads unions of intersections of arrays of plain types.
func (p *tsParser) typ() (tsType, error) { return p.joined("|", tsUnion, p.both) }

func (p *tsParser) both() (tsType, error) { return p.joined("&", tsBoth, p.suffixed) }

func (p *tsParser) joined(mark string, kind tsKind, next func() (tsType, error)) (tsType, error) {
	p.take(mark) // a leading one is allowed
	var parts []tsType
	for {
		t, err := next()
		if err != nil {
			return t, err
		}
		parts = append(parts, t)
		if !p.take(mark) {
			break
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return tsType{kind: kind, parts: parts}, nil
}

func (p *tsParser) suffixed() (tsType, error) {
	p.take("readonly")
	t, err := p.plain()
	for err == nil && p.take("[") {
		t, err = tsType{kind: tsList, parts: []tsType{t}}, p.want("]")
	}
	return t, err
}

func (p *tsParser) plain() (tsType, error) {
	if p.at >= len(p.toks) {
		return tsType{}, p.want("a type")
	}
	tok := p.toks[p.at]
	switch {
	case tok.text == "(":
		p.at++
		t, err := p.typ()
		if err == nil {
			err = p.want(")")
		}
		if p.peek() == "=>" {
			return t, fmt.Errorf("line %d: a function", tok.line)
		}
		return t, err
	case tok.text == "{":
		return p.object()
	case tok.isString():
		p.at++
		return tsType{kind: tsLiteral, name: tok.text[1:]}, nil
	case tok.isName():
		p.at++
		return p.named(tok)
	}
	return tsType{}, p.want("a type")
}

func (p *tsParser) named(tok tsToken) (tsType, error) {
	var args []tsType
	if p.take("<") {
		for {
			t, err := p.typ()
			if err != nil {
				return t, err
			}
			args = append(args, t)
			if !p.take(",") {
				break
			}
		}
		if err := p.want(">"); err != nil {
			return tsType{}, err
		}
	}
	switch {
	case tok.text == "Array" && len(args) == 1, tok.text == "ReadonlyArray" && len(args) == 1:
		return tsType{kind: tsList, parts: args}, nil
	case tok.text == "Record" && len(args) == 2:
		return tsType{kind: tsMap, parts: args[1:]}, nil
	case tok.text == "Partial" && len(args) == 1:
		return tsType{kind: tsPartial, parts: args}, nil
	case args != nil:
		return tsType{}, fmt.Errorf("line %d: %s<…> is not understood by this test", tok.line, tok.text)
	}
	return tsType{kind: tsName, name: tok.text}, nil
}

func (p *tsParser) object() (tsType, error) {
	out := tsType{kind: tsObject}
	if err := p.want("{"); err != nil {
		return out, err
	}
	for !p.take("}") {
		if p.take("[") { // [key: string]: T
			for p.peek() != "]" && p.peek() != "" {
				p.at++
			}
			p.at++
			if err := p.want(":"); err != nil {
				return out, err
			}
			t, err := p.typ()
			if err != nil {
				return out, err
			}
			out = tsType{kind: tsMap, parts: []tsType{t}}
		} else {
			f, err := p.field()
			if err != nil {
				return out, err
			}
			out.fields = append(out.fields, f)
		}
		if !p.take(";") {
			p.take(",") // a line's end is enough, too
		}
	}
	return out, nil
}

func (p *tsParser) field() (f tsField, err error) {
	if p.peek() == "readonly" && p.at+1 < len(p.toks) && p.toks[p.at+1].isName() {
		p.at++
	}
	if p.at >= len(p.toks) || !p.toks[p.at].isName() && !p.toks[p.at].isString() {
		return f, p.want("a field's name")
	}
	f.name = strings.Trim(p.peek(), `"`)
	p.at++
	f.optional = p.take("?")
	if err = p.want(":"); err != nil {
		return f, err
	}
	f.typ, err = p.typ()
	return f, err
}

// tsDecl is a named type. One that the parser does not understand has an err
// and may stand in the sources as long as nothing compares it.
type tsDecl struct {
	file string
	typ  tsType
	err  error
}

// tsDecls finds the named types of a file.
func tsDecls(file string, toks []tsToken) map[string]tsDecl {
	out := map[string]tsDecl{}
	for i := 0; i+2 < len(toks); i++ {
		word, name := toks[i].text, toks[i+1]
		starts := i == 0 || slices.Contains([]string{"export", ";", "}", "\"", ")"}, toks[i-1].text) || toks[i-1].line < toks[i].line
		if !starts || !name.isName() {
			continue
		}
		p := &tsParser{toks: toks, at: i + 2}
		d := tsDecl{file: file}
		switch {
		case word == "type" && p.take("="):
			d.typ, d.err = p.typ()
		case word == "interface":
			d.typ, d.err = p.iface()
		default:
			continue
		}
		out[name.text] = d
		if d.err == nil {
			i = p.at - 1
		}
	}
	return out
}

func (p *tsParser) iface() (tsType, error) {
	both := tsType{kind: tsBoth}
	if p.take("extends") {
		for {
			t, err := p.plain()
			if err != nil {
				return t, err
			}
			both.parts = append(both.parts, t)
			if !p.take(",") {
				break
			}
		}
	}
	body, err := p.object()
	both.parts = append(both.parts, body)
	return both, err
}
