package footage

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io/fs"
)

const (
	maxWidth  = 1280
	quality   = 60
	maxSide   = 16 << 10 // of what is decoded at all
	maxPixels = 40 << 20
	fitBytes  = 256 << 10 // a picture that is larger is made anew
)

// fitted is a picture as it is kept: at most maxWidth wide, and none of the sharp ones
// that a pane gets of a page at rest. The bytes are Chromium's, and hostile.
func fitted(data []byte) (out []byte, width, height int, err error) {
	c, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, 0, 0, fmt.Errorf("read a picture's head: %w", err)
	}
	if c.Width < 1 || c.Height < 1 || c.Width > maxSide || c.Height > maxSide || c.Width*c.Height > maxPixels {
		return nil, 0, 0, fmt.Errorf("read a picture: %w: %d×%d pixels", fs.ErrInvalid, c.Width, c.Height)
	}
	if c.Width <= maxWidth && len(data) <= fitBytes {
		return data, c.Width, c.Height, nil
	}
	img, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, 0, 0, fmt.Errorf("read a picture: %w", err)
	}
	if c.Width > maxWidth {
		img = smaller(img, maxWidth, max(c.Height*maxWidth/c.Width, 1))
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
		return nil, 0, 0, fmt.Errorf("write a picture: %w", err)
	}
	at := img.Bounds()
	return b.Bytes(), at.Dx(), at.Dy(), nil
}

// smaller is an image at a smaller size: each pixel is the mean of those that it stands for.
func smaller(img image.Image, w, h int) image.Image {
	from := img.Bounds()
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		y0, y1 := from.Min.Y+y*from.Dy()/h, from.Min.Y+max((y+1)*from.Dy()/h, y*from.Dy()/h+1)
		for x := range w {
			x0, x1 := from.Min.X+x*from.Dx()/w, from.Min.X+max((x+1)*from.Dx()/w, x*from.Dx()/w+1)
			var r, g, b, n uint32
			for yy := y0; yy < y1; yy++ {
				for xx := x0; xx < x1; xx++ {
					pr, pg, pb, _ := img.At(xx, yy).RGBA()
					r, g, b, n = r+pr>>8, g+pg>>8, b+pb>>8, n+1
				}
			}
			out.SetRGBA(x, y, color.RGBA{uint8(r / n), uint8(g / n), uint8(b / n), 255}) //nolint:gosec // means of bytes
		}
	}
	return out
}
