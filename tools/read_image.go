package tools

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"image"
	"io"

	"github.com/loomd/loomd/diffpreview"
)

// What an image block is bounded by: hosts refuse the whole conversation, not
// just the image, when one of its images is over their limit. These are the
// limits of the Claude API (its page "Vision"): 5 MB in base64 for an image, and
// 2000 pixels a side when a request has more than 20 of them, as that of a long
// session does. Models see no more of larger images.
const (
	maxImageSide  = 2000      // pixels
	maxImageBytes = 3_750_000 // 5 MB in base64
)

// maxPixels is the size up to which an image is decoded: the photos of today's
// phones have 48 million pixels. They take 4 bytes each in memory, in a
// progressive JPEG while it is decoded up to 15. Those of 16 bits count twice.
const maxPixels = 50_000_000

// maxImageFile is the size in bytes up to which a file is decoded: what a PNG
// with maxPixels has that nothing could be squeezed out of.
const maxImageFile = 4 * maxPixels

// fewPixels is the size up to which images are decoded at the same time; larger
// ones take turns, so that together they need the memory of one.
const fewPixels = maxImageSide * maxImageSide

// largeImages has room for whoever decodes a large image.
var largeImages = make(chan struct{}, 1)

// shownImage is what a result says of an image, which is shown in a block beside
// it.
type shownImage struct {
	MimeType string     `json:"mime_type" jsonschema:"of an image: image/png, image/jpeg, image/gif or image/webp, by its content"`
	Width    int        `json:"width" jsonschema:"of an image in the file: pixels"`
	Height   int        `json:"height" jsonschema:"of an image in the file: pixels"`
	Scaled   bool       `json:"scaled" jsonschema:"of an image: whether the block has it smaller than the file"`
	Block    imageBlock `json:"image_block" jsonschema:"the image block in content"`

	data []byte // of the block
}

type imageBlock struct {
	MimeType   string `json:"mime_type"`
	Width      int    `json:"width" jsonschema:"pixels"`
	Height     int    `json:"height" jsonschema:"pixels"`
	Bytes      int    `json:"bytes" jsonschema:"before base64"`
	Exact      bool   `json:"exact" jsonschema:"the bytes of the file; false: the image was encoded anew, since it was too large"`
	FirstFrame bool   `json:"first_frame,omitempty" jsonschema:"only the first frame of an animation"`
}

func (r *readResult) beside() []Block {
	if r.shownImage == nil {
		return nil
	}
	return []Block{{Type: "image", Data: r.shownImage.data, MimeType: r.Block.MimeType}}
}

// showImage fills in the result for a file of size bytes that begins like an
// image; a negative size is not known. It fails with not_text for an image that
// cannot be decoded, with too_large for one that is not.
func (r *readResult) showImage(ctx context.Context, file *io.SectionReader, size int64, k kind) error {
	if size < 0 || size > maxImageFile {
		return tooLargeImage(r.Path, k, size, fmt.Sprintf("%d bytes, at most %d are decoded", size, maxImageFile))
	}
	config, _, err := image.DecodeConfig(newImageReader(ctx, file))
	if err != nil {
		return damagedImage(r.Path, k, size, err)
	}
	k.width, k.height = config.Width, config.Height
	pixels := int64(k.width) * int64(k.height)
	if is16Bit(config.ColorModel) {
		pixels *= 2
	}
	switch {
	case pixels == 0:
		return damagedImage(r.Path, k, size, fmt.Errorf("it is %d×%d pixels", k.width, k.height))
	case pixels > maxPixels:
		return tooLargeImage(r.Path, k, size, fmt.Sprintf("at most %d million pixels are decoded", maxPixels/1_000_000))
	case pixels > fewPixels:
		select {
		case largeImages <- struct{}{}:
			defer func() { <-largeImages }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	fits := max(k.width, k.height) <= maxImageSide && size <= maxImageBytes
	r.shownImage = &shownImage{MimeType: k.mime, Width: k.width, Height: k.height}
	if isAnimatedWebP(file) { // which Go does not decode
		if !fits {
			return tooLargeImage(r.Path, k, size, fmt.Sprintf("an animated WebP is shown up to %d pixels a side and %d bytes", maxImageSide, maxImageBytes))
		}
		err = r.pass(file, size)
	} else {
		err = r.decode(ctx, file, size, fits)
	}
	if err != nil && ctx.Err() == nil {
		return damagedImage(r.Path, k, size, err)
	}
	return cmp.Or(ctx.Err(), err)
}

// decode decodes an image, also one that is shown as it is, since a host may
// refuse the conversation for a damaged one. Of an animation it is the first
// frame.
func (s *shownImage) decode(ctx context.Context, file *io.SectionReader, size int64, fits bool) error {
	from := newImageReader(ctx, file)
	img, _, err := image.Decode(from)
	if err != nil {
		return err
	}
	if fits {
		return s.pass(file, size)
	}
	s.Block.FirstFrame = s.MimeType == mimeGIF && moreFrames(from)
	turned := upright
	if s.MimeType == mimeJPEG {
		turned = orientationOf(file)
	}
	small, err := shrink(ctx, onCanvas(img, s.Width, s.Height), maxImageSide)
	if err != nil {
		return err
	}
	photo := s.MimeType == mimeJPEG || isYCbCr(img)
	s.Block.MimeType, s.data, small, err = encodeWithin(ctx, turned.apply(small), photo)
	if err != nil {
		return err
	}
	s.Block.Width, s.Block.Height, s.Block.Bytes = small.Rect.Dx(), small.Rect.Dy(), len(s.data)
	s.Scaled = s.Block.Width*s.Block.Height < s.Width*s.Height
	return nil
}

// pass shows the bytes of the file.
func (s *shownImage) pass(file *io.SectionReader, size int64) error {
	data := make([]byte, size)
	if n, err := readAt(file, data, 0); err != nil || n < len(data) {
		return cmp.Or(err, io.ErrUnexpectedEOF)
	}
	s.data = data
	s.Block = imageBlock{MimeType: s.MimeType, Width: s.Width, Height: s.Height, Bytes: len(data), Exact: true}
	return nil
}

func damagedImage(name string, k kind, size int64, err error) error {
	f := notText(name, k, size)
	f.Message = fmt.Sprintf("%s: %s, cannot be decoded: %v", name, k, err)
	f.Hint = "the file is damaged or of a kind that loomd does not know: make it anew, or convert it to a plain PNG"
	return f
}

func tooLargeImage(name string, k kind, size int64, why string) error {
	f := notText(name, k, size)
	f.Code, f.Message = string(diffpreview.CodeTooLarge), fmt.Sprintf("%s: %s, is too large: %s", name, k, why)
	f.Hint = "make a smaller copy of it, and read that"
	return f
}

// imageReader reads an image until ctx ends: a decoder knows no context.
type imageReader struct {
	ctx  context.Context
	file io.Reader
}

// newImageReader reads file from its start.
func newImageReader(ctx context.Context, file *io.SectionReader) *bufio.Reader {
	return bufio.NewReaderSize(&imageReader{ctx, io.NewSectionReader(file, 0, file.Size())}, 64<<10)
}

func (r *imageReader) Read(buf []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.file.Read(buf)
}

// isAnimatedWebP reads the flags of a WebP's header.
func isAnimatedWebP(file *io.SectionReader) bool {
	const flags, animation = 20, 1 << 1
	var head [flags + 1]byte
	n, _ := readAt(file, head[:], 0)
	return n == len(head) && string(head[8:16]) == "WEBPVP8X" && head[flags]&animation != 0
}

// moreFrames reports whether the GIF, of which the first frame has been read,
// has another one.
func moreFrames(r *bufio.Reader) bool {
	for {
		block, err := r.ReadByte()
		if err != nil || block != '!' { // no extension
			return err == nil && block == ','
		}
		r.Discard(1) // its label
		for {
			n, err := r.ReadByte()
			if err != nil || n == 0 {
				break
			}
			r.Discard(int(n))
		}
	}
}
