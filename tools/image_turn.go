package tools

import (
	"encoding/binary"
	"image"
	"io"
)

// orientation is how a camera was held: the value of Exif's tag Orientation. It is
// lost when an image is encoded anew, so the pixels are turned then.
type orientation int

const upright orientation = 1

// maxExif is how far into a JPEG its Exif data is looked for, in bytes: a segment
// is at most 64 KiB long, and that of Exif is one of the first.
const maxExif = 256 << 10

// orientationOf reads the Exif data of a JPEG; without a sound one it is upright.
func orientationOf(file io.ReaderAt) orientation {
	head := make([]byte, maxExif)
	n, err := readAt(file, head, 0)
	if err != nil {
		return upright
	}
	head = head[:n]
	const startOfScan, app1 = 0xda, 0xe1
	for at := 2; at+4 <= len(head) && head[at] == 0xff && head[at+1] != startOfScan; {
		length := int(binary.BigEndian.Uint16(head[at+2:])) // with itself
		segment := head[at+4 : max(at+4, min(at+2+length, len(head)))]
		if head[at+1] == app1 && len(segment) > 6 && string(segment[:6]) == "Exif\x00\x00" {
			return exifOrientation(segment[6:])
		}
		at += 2 + length
	}
	return upright
}

// exifOrientation finds the tag in the first directory of a TIFF structure.
func exifOrientation(tiff []byte) orientation {
	const header, entry, tag = 8, 12, 0x0112
	if len(tiff) < header {
		return upright
	}
	var order binary.ByteOrder = binary.LittleEndian
	if tiff[0] == 'M' {
		order = binary.BigEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return upright
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < entry {
			break
		}
		if order.Uint16(entries) == tag {
			if o := orientation(order.Uint16(entries[8:])); o >= upright && o <= 8 {
				return o
			}
		}
		entries = entries[entry:]
	}
	return upright
}

// apply turns an image so that it stands upright.
func (o orientation) apply(img *image.RGBA) *image.RGBA {
	width, height := img.Rect.Dx(), img.Rect.Dy()
	// Where the pixel that is shown at x, y is in img; 5 to 8 exchange the sides.
	from := map[orientation]func(x, y int) (int, int){
		2: func(x, y int) (int, int) { return width - 1 - x, y },
		3: func(x, y int) (int, int) { return width - 1 - x, height - 1 - y },
		4: func(x, y int) (int, int) { return x, height - 1 - y },
		5: func(x, y int) (int, int) { return y, x },
		6: func(x, y int) (int, int) { return y, height - 1 - x },
		7: func(x, y int) (int, int) { return width - 1 - y, height - 1 - x },
		8: func(x, y int) (int, int) { return width - 1 - y, x },
	}[o]
	if from == nil {
		return img
	}
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	if o >= 5 {
		out = image.NewRGBA(image.Rect(0, 0, height, width))
	}
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			out.SetRGBA(x, y, img.RGBAAt(from(x, y)))
		}
	}
	return out
}
