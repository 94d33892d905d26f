package tools

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
)

// is16Bit reports whether images of this model take 8 bytes a pixel, or 2 of a
// grey one, instead of 4 and 1.
func is16Bit(m color.Model) bool {
	return m == color.RGBA64Model || m == color.NRGBA64Model || m == color.Gray16Model
}

func isYCbCr(img image.Image) bool {
	_, ok := img.(*image.YCbCr)
	return ok
}

// onCanvas puts the frame of a GIF to its place on a screen of that size. What
// covers the screen is left as it is.
func onCanvas(img image.Image, width, height int) image.Image {
	screen := image.Rect(0, 0, width, height)
	if img.Bounds() == screen {
		return img
	}
	canvas := image.NewRGBA(screen)
	draw.Draw(canvas, img.Bounds(), img, img.Bounds().Min, draw.Src)
	return canvas
}

// shrink scales an image down until neither side is over most pixels; the ratio of
// the sides is kept. It halves the image while that leaves enough: then every pixel
// is the mean of four, so that thin lines stay.
func shrink(ctx context.Context, img image.Image, most int) (*image.RGBA, error) {
	width, height := img.Bounds().Dx(), img.Bounds().Dy()
	toWidth, toHeight := fitted(width, height, most)
	for {
		if width >= 2*toWidth || height >= 2*toHeight {
			width, height = max((width+1)/2, toWidth), max((height+1)/2, toHeight)
		} else {
			width, height = toWidth, toHeight
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		smaller := image.NewRGBA(image.Rect(0, 0, width, height))
		draw.ApproxBiLinear.Scale(smaller, smaller.Rect, img, img.Bounds(), draw.Src, nil)
		if width == toWidth && height == toHeight {
			return smaller, nil
		}
		img = smaller
	}
}

// fitted returns the sides of an image scaled down until neither is over most.
func fitted(width, height, most int) (int, int) {
	longer := max(width, height)
	if longer <= most {
		return width, height
	}
	scaled := func(side int) int { return max(1, (side*most+longer/2)/longer) }
	return scaled(width), scaled(height)
}

// encodeWithin encodes an image in at most maxImageBytes: as a PNG unless it is a
// photo, then as a JPEG, then smaller. It returns the image that it encoded.
func encodeWithin(ctx context.Context, img *image.RGBA, photo bool) (mime string, data []byte, shown *image.RGBA, err error) {
	var out bytes.Buffer
	if !photo {
		if err := png.Encode(&out, img); err != nil || out.Len() <= maxImageBytes {
			return mimePNG, out.Bytes(), img, err
		}
	}
	img = onWhite(img)
	for {
		for _, quality := range []int{90, 75} {
			out.Reset()
			if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: quality}); err != nil || out.Len() <= maxImageBytes {
				return mimeJPEG, out.Bytes(), img, err
			}
		}
		if img, err = shrink(ctx, img, max(img.Rect.Dx(), img.Rect.Dy())/2); err != nil {
			return "", nil, nil, err
		}
	}
}

// onWhite lays an image that lets something through on white: JPEG knows no
// transparency.
func onWhite(img *image.RGBA) *image.RGBA {
	if img.Opaque() {
		return img
	}
	out := image.NewRGBA(img.Rect)
	draw.Draw(out, out.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, img, img.Rect.Min, draw.Over)
	return out
}
