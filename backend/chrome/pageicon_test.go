package chrome

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
)

// blank is a picture of one colour, which a few bytes stand for.
func blank(t testing.TB, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black})); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// icoOf is an ICO whose directory says 16 by 16 of one picture.
func icoOf(picture []byte) []byte {
	b := []byte{0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(picture)))
	b = binary.LittleEndian.AppendUint32(b, 22)
	return append(b, picture...)
}

func bitmap(side uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 40)
	b = binary.LittleEndian.AppendUint32(b, side)
	return append(binary.LittleEndian.AppendUint32(b, 2*side), make([]byte, 40)...)
}

// webp is the head of a lossless WebP and nothing else, which is all that is looked at.
func webp(side uint32) []byte {
	b := append([]byte("RIFF\x12\x00\x00\x00WEBPVP8L\x05\x00\x00\x00"), 0x2f)
	return append(binary.LittleEndian.AppendUint32(b, side-1|(side-1)<<14), 0)
}

func TestIconsThatArePictures(t *testing.T) {
	bomb := blank(t, 8000, 8000)
	if len(bomb) > maxIcon {
		t.Fatalf("the picture has %d bytes, and shows nothing", len(bomb))
	}
	for name, c := range map[string]struct {
		data []byte
		kind string
	}{
		"png": {blank(t, 64, 64), "image/png"}, "huge png": {bomb, ""}, "ico": {icoOf(blank(t, 16, 16)), "image/x-icon"}, "huge png in an ico": {icoOf(bomb), ""},
		"bitmap in an ico": {icoOf(bitmap(32)), "image/x-icon"}, "huge bitmap in an ico": {icoOf(bitmap(60_000)), ""}, "cut ico": {icoOf(nil), ""}, "ico of many": {[]byte{0, 0, 1, 0, 255, 255}, ""},
		"ico of four bytes": {[]byte{0, 0, 1, 0}, ""}, "cursor of five bytes": {[]byte{0, 0, 2, 0, 1}, ""},
		"webp": {webp(64), "image/webp"}, "huge webp": {webp(16_000), ""}, "cut webp": {webp(64)[:21], ""},
		"half a png": {blank(t, 64, 64)[:20], ""}, "nothing": {nil, ""}, "html": {[]byte("<html><svg></svg>"), ""}, "text": {[]byte("icon"), ""}, "large": {append(blank(t, 64, 64), make([]byte, maxIcon)...), ""},
	} {
		want := ""
		if c.kind != "" {
			want = "data:" + c.kind + ";base64," + base64.StdEncoding.EncodeToString(c.data)
		}
		if got := iconOf(c.data); got != want {
			t.Errorf("%s: %.60q, want %.60q", name, got, want)
		}
	}
}

// TestIconsThatAreShapes: an SVG is drawn by Loop's own page, so it has shapes and colours alone.
func TestIconsThatAreShapes(t *testing.T) {
	in := func(body string) string {
		return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">` + body + `</svg>`
	}
	for _, good := range []string{
		in(`<rect width="16" height="16" rx="3" fill="#1f6f50"/><path d="M5 4h6v2"/>`),
		`<?xml version="1.0"?><!-- an icon -->` + in(`<style>path{fill:#000}@media (prefers-color-scheme:dark){path{fill:#fff}}</style><path d="M0 0"/>`),
		in(`<defs><linearGradient id="a"><stop stop-color="red"/></linearGradient></defs><g fill="url(#a)"><circle r="4"/></g>`),
	} {
		if got := iconOf([]byte(good)); got != "data:image/svg+xml;base64,"+base64.StdEncoding.EncodeToString([]byte(good)) {
			t.Errorf("%.80s is left out", good)
		}
	}
	laughs := `<g id="a0"><path d="M0 0h1"/></g>`
	for _, id := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"} {
		laughs += `<g id="a` + id + `">` + strings.Repeat(`<use href="#a`+string(id[0]-1)+`"/>`, 10) + `</g>`
	}
	for _, bad := range []string{
		in(laughs), in(strings.ReplaceAll(laughs, "use", "svg:use")), `<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>` + in("&b;"), in(`<script>x</script>`), in(`<path onload="x"/>`),
		in(`<image href="https://evil.example/"/>`), in(`<foreignObject/>`), in(`<filter id="f"/>`), in(`<g filter="url(#f)"/>`), in(`<g style="filter:blur(9px)"/>`), in(`<pattern/>`), in(`<mask/>`), in(`<g clip-path="url(#c)"/>`),
		in(`<style>@import "https://evil.example/x.css";</style>`), in(`<style>g{animation:a 1ms infinite}</style>`), in(`<style>g{an\69mation:a 1ms}</style>`), in(`<style>g{fill:url(//evil.example)}</style>`), in(`<animate/>`),
		in(`<style>g{fil<!---->ter:blur(9px)}</style>`), in(`<style>g{anim<![CDATA[ation:a 1ms]]>}</style>`), in(`<path stroke-dasharray="1e-9"/>`),
		in(strings.Repeat("<g/>", maxShapes)), `<?xml-stylesheet href="x"?>` + in(""), in("<g>"), "<g/>", "<svg",
	} {
		if got := iconOf([]byte(bad)); got != "" {
			t.Errorf("%.120s is shown", bad)
		}
	}
}

func TestDataOfAnIcon(t *testing.T) {
	for href, want := range map[string]string{
		"data:image/svg+xml,%3Csvg/%3E": "<svg/>", "data:image/svg+xml;base64,PHN2Zy8+": "<svg/>", "data:image/svg+xml;charset=utf-8;BASE64,PHN2Zy8%2B": "<svg/>", "data:,": "",
		"data:image/png;base64,!": "", "data:": "", "data:,%zz": "", "data:," + strings.Repeat("a", 5*maxIcon): "",
	} {
		if got := string(dataIn(href)); got != want {
			t.Errorf("%.60q: %.60q", href, got)
		}
	}
}
