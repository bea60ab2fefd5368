package chrome

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"image"
	_ "image/gif"  // formats of icons
	_ "image/jpeg" //
	_ "image/png"  //
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	_ "golang.org/x/image/webp" // one more of them
)

const (
	maxIcon     = 12 << 10 // bytes of a favicon; as a data: URL it is a third longer
	maxIconSide = 512      // a few bytes may be unpacked to gigabytes
	maxShapes   = 400      // elements of an icon that is an SVG
)

// dataIn is what a data: URL has; nothing of one that is too long.
func dataIn(href string) []byte {
	head, raw, ok := strings.Cut(href, ",")
	if !ok || len(raw) > 4*maxIcon {
		return nil
	}
	text, err := url.PathUnescape(raw)
	if err != nil {
		return nil
	}
	if !strings.HasSuffix(strings.ToLower(strings.TrimSpace(head)), ";base64") {
		return []byte(text)
	}
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return nil
	}
	return data
}

// iconOf is a favicon as a data: URL that Loop's own page may draw; empty for all else. The
// icon comes from any page of the web, and drawing it must cost next to nothing.
func iconOf(data []byte) string {
	if len(data) == 0 || len(data) > maxIcon {
		return ""
	}
	kind := http.DetectContentType(data)
	switch kind {
	case "image/png", "image/gif", "image/jpeg", "image/webp":
		if !smallPicture(data) {
			return ""
		}
	case "image/x-icon":
		if !smallIcons(data) {
			return ""
		}
	default:
		if !plainShapes(data) {
			return ""
		}
		kind = "image/svg+xml"
	}
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)
}

func smallPicture(data []byte) bool {
	head, _, err := image.DecodeConfig(bytes.NewReader(data))
	return err == nil && head.Width <= maxIconSide && head.Height <= maxIconSide
}

// smallIcons looks at each picture of an ICO, by its own head: the directory may say otherwise.
func smallIcons(data []byte) bool {
	const head, entry = 6, 16
	if len(data) < head {
		return false
	}
	n := int(binary.LittleEndian.Uint16(data[4:]))
	if n == 0 || len(data) < head+n*entry {
		return false
	}
	for i := range n {
		at := binary.LittleEndian.Uint32(data[head+i*entry+12:])
		if uint64(at)+entry > uint64(len(data)) {
			return false
		}
		one := data[at:]
		if http.DetectContentType(one) == "image/png" {
			if !smallPicture(one) {
				return false
			}
			continue
		}
		// A bitmap without its file's head; it has a mask below, and so twice the height.
		width, height := binary.LittleEndian.Uint32(one[4:]), binary.LittleEndian.Uint32(one[8:])
		if width > maxIconSide || height > 2*maxIconSide {
			return false
		}
	}
	return true
}

// shapes are the elements that an icon may have. Not among them is what draws others again,
// as “use”, patterns, masks and clips do: a few lines of these stand for billions of shapes.
var shapes = []string{
	"svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "defs", "linearGradient", "radialGradient", "stop",
	"title", "desc", "metadata", "style",
}

// plainShapes reports whether a text is an SVG of these elements, without scripts, entities,
// animations, filters, and anything that is fetched.
func plainShapes(data []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(data))
	n := 0
	var text strings.Builder // all of it: what stands between two texts divides no word of a style
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return n > 0 && !costly(text.String())
		}
		if err != nil {
			return false
		}
		switch t := token.(type) {
		case xml.Directive:
			return false
		case xml.ProcInst:
			if t.Target != "xml" {
				return false
			}
		case xml.StartElement:
			n++
			if n > maxShapes || !slices.Contains(shapes, t.Name.Local) || n == 1 && t.Name.Local != "svg" {
				return false
			}
			for _, a := range t.Attr {
				space := (a.Name.Local == "xmlns" || a.Name.Space == "xmlns") && strings.HasPrefix(a.Value, "http://www.w3.org/")
				if !space && (strings.HasPrefix(strings.ToLower(a.Name.Local), "on") || costly(a.Name.Local+":"+a.Value)) {
					return false
				}
			}
		case xml.CharData:
			text.Write(t)
		}
	}
}

// costly reports whether a style, or an attribute with its name, may do more than to colour.
func costly(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(
		[]string{"@import", "@keyframes", "animation", "filter", "mask", "clip-path", "marker", "dasharray", "script:", "data:", "//", "\\"},
		func(word string) bool { return strings.Contains(text, word) })
}
