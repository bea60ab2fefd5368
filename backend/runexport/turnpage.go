package runexport

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"time"
)

// The page has no script and loads nothing but the pictures beside it.
var page = template.Must(template.New("page").Funcs(template.FuncMap{"clock": clock}).Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>A run of Loop</title>
<style>
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif;
  --line: light-dark(#d5d9de, #333a44); --soft: light-dark(#f3f4f6, #1c2026);
  --dim: light-dark(#5b6470, #9aa4b2) }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.3rem } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem }
article { display: grid; grid-template-columns: 4rem minmax(0, 1fr); gap: .2rem 1rem; padding: .5rem 0; border-top: 1px solid var(--line) }
time { color: var(--dim); font-variant-numeric: tabular-nums } h3 { font-size: 1rem; margin: 0 }
pre, p.text { grid-column: 2; margin: 0; white-space: pre-wrap; overflow-wrap: anywhere }
pre { max-height: 24rem; overflow: auto; padding: .5rem .7rem; background: var(--soft); border-radius: 6px; font-size: .85rem }
figure { grid-column: 2; margin: 0 } img { max-width: min(100%, 40rem); border: 1px solid var(--line); border-radius: 6px }
.dim { color: var(--dim) }
</style></head><body>
<h1>A run of {{.Began}}</h1>
<p class="dim">It lasted {{clock .Length}}{{if .Running}} when this was exported, and went on{{end}}. Made by Loop.</p>
<ul class="dim">
<li>Secrets that Loop knew are left out of all text. Pictures are as the pages were: look at them before you pass this on.</li>
<li><a href="turns.md">turns.md</a> has the turns for reading, <a href="turns.json">turns.json</a> all that Loop kept of the run.</li>
{{if .Terminals}}<li>Terminals, to be played with “asciinema play”:
{{- range $i, $t := .Terminals}}{{if $i}},{{end}} <a href="{{$t.File}}">{{or $t.Title "Terminal"}}</a>{{end}}.
Recordings are there from their own beginning to the end of the run.</li>{{end}}
{{range .Notes}}<li>{{.}}</li>{{end}}
</ul>
<h2>Turns and pictures</h2>
{{range .Rows}}<article><time>{{clock .At}}</time><h3>{{.Head}}</h3>
{{- if .Picture}}<figure>
{{- if .Picture.File}}<a href="{{.Picture.File}}"><img src="{{.Picture.File}}" alt="" loading="lazy"></a>
{{- else}}<p class="dim">{{or .Picture.Why "No picture was taken."}}</p>{{end}}</figure>
{{- else if .Text}}{{if .Code}}<pre>{{.Text}}</pre>{{else}}<p class="text">{{.Text}}</p>{{end}}{{end}}
{{- range .Pictures}}<figure>
{{- if .File}}<a href="{{.File}}"><img src="{{.File}}" alt="" loading="lazy"></a>
{{- else}}<p class="dim">A picture is left out: {{.Why}}</p>{{end}}</figure>{{end}}</article>
{{end}}</body></html>
`))

type pageRow struct {
	turn
	Picture *picture
}

func (x *Export) writePage(pictures []picture, terminals []terminal) error {
	rows := make([]pageRow, 0, len(x.turns)+len(pictures))
	for _, t := range x.turns {
		rows = append(rows, pageRow{turn: t})
	}
	for _, p := range pictures {
		rows = append(rows, pageRow{turn{At: p.At, Head: p.Words}, &p})
	}
	slices.SortStableFunc(rows, func(a, b pageRow) int { return cmp.Compare(a.At, b.At) })
	var b bytes.Buffer
	err := page.Execute(&b, map[string]any{
		"Began": x.began.UTC().Format("2 January 2006, 15:04:05 MST"), "Length": max(x.end.Sub(x.began), time.Duration(0)),
		"Running": x.run.EndedAt.IsZero(), "Terminals": terminals, "Notes": x.notes, "Rows": rows,
	})
	if err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return x.whole("index.html", b.Bytes(), false)
}
