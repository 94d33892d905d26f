package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// quadrants is an image with a colour in each: red, green; blue, white. The pixels
// are noisy when it is hard to compress.
func quadrants(width, height int, noisy bool) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	colours := []color.NRGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 255, 255}}
	for i, c := range colours {
		x, y := i%2*width/2, i/2*height/2
		draw.Draw(img, image.Rect(x, y, x+(width+1)/2, y+(height+1)/2), image.NewUniform(c), image.Point{}, draw.Src)
	}
	if noisy {
		r := rand.New(rand.NewPCG(1, 2))
		for i := range img.Pix {
			if i%4 != 3 {
				img.Pix[i] = byte(r.Uint32())
			}
		}
	}
	return img
}

func pngOf(t testing.TB, img image.Image) string {
	t.Helper()
	var out bytes.Buffer
	must(t, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, img))
	return out.String()
}

func jpegOf(t testing.TB, img image.Image) string {
	t.Helper()
	var out bytes.Buffer
	must(t, jpeg.Encode(&out, img, nil))
	return out.String()
}

// gifOf is an animation of n frames, black ones after the first.
func gifOf(t testing.TB, width, height, n int) string {
	t.Helper()
	var g gif.GIF
	for i := range n {
		frame := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black, color.NRGBA{255, 0, 0, 255}})
		for j := range frame.Pix {
			frame.Pix[j] = byte(max(0, 1-i))
		}
		g.Image, g.Delay = append(g.Image, frame), append(g.Delay, 10)
	}
	var out bytes.Buffer
	must(t, gif.EncodeAll(&out, &g))
	return out.String()
}

// webpOf is a lossless WebP in one colour: after its sides come five Huffman codes
// of a single symbol, so that the pixels take no bits.
func webpOf(width, height int) string {
	return "RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00" + vp8lHeader(width, height) + "\x07\x10\x11\x11\x88\x88\xfe\x07\x00"
}

func vp8lHeader(width, height int) string {
	bits := uint32(width-1) | uint32(height-1)<<14
	return string([]byte{0x2f, byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)})
}

// animatedWebP has the header of one, which is all that is looked at.
func animatedWebP(width, height int) string {
	w, h := width-1, height-1
	return "RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00" +
		string([]byte{byte(w), byte(w >> 8), byte(w >> 16), byte(h), byte(h >> 8), byte(h >> 16)})
}

// image reads a file that is shown as an image, and checks what is true of each:
// it is within the bounds, can be decoded, and is what the result says.
func (b *bench) image(name string, more args) (answer, image.Image, []byte) {
	b.t.Helper()
	a := args{"path": name}
	for k, v := range more {
		a[k] = v
	}
	out, got := b.call("read_file", a)
	if out.IsError || len(out.Content) != 2 {
		b.t.Fatalf("%s: %d blocks: %s", name, len(out.Content), out.Structured)
	}
	shown, block := out.Content[1], got["image_block"].(map[string]any)
	if shown.MimeType != block["mime_type"] || len(shown.Data) != int(block["bytes"].(float64)) || len(shown.Data) > maxImageBytes {
		b.t.Errorf("%s: %d bytes of %s, said to be %v", name, len(shown.Data), shown.MimeType, block)
	}
	if got["contents"] != nil || got["truncated"] != false {
		b.t.Errorf("%s: %s", name, out.Structured)
	}
	img, format, err := image.Decode(bytes.NewReader(shown.Data))
	if err != nil {
		if bytes.Contains(shown.Data, []byte("VP8X")) {
			return got, nil, shown.Data
		}
		b.t.Fatalf("%s: %v", name, err)
	}
	size := img.Bounds().Size()
	if "image/"+format != shown.MimeType || block["width"] != float64(size.X) || block["height"] != float64(size.Y) || max(size.X, size.Y) > maxImageSide {
		b.t.Errorf("%s: %s of %v, said to be %v", name, format, size, block)
	}
	return got, img, shown.Data
}

// TestReadImageAsItIs: an image within the bounds, whatever its name, is shown to
// the byte, and what picks a part of a text means nothing.
func TestReadImageAsItIs(t *testing.T) {
	files := map[string]string{
		"a.txt": pngOf(t, quadrants(40, 30, false)), "b.png": jpegOf(t, quadrants(40, 30, false)),
		"c": gifOf(t, 40, 30, 3), "d.jpg": webpOf(40, 30), "e.go": animatedWebP(40, 30),
		"edge": pngOf(t, image.NewGray(image.Rect(0, 0, maxImageSide, 30))),
	}
	b := newBench(t, files)
	for name, mime := range map[string]string{
		"a.txt": "image/png", "b.png": "image/jpeg", "c": "image/gif", "d.jpg": "image/webp", "e.go": "image/webp", "edge": "image/png",
	} {
		for _, more := range []args{nil, {"max_bytes": 1, "offset": 9, "limit": 1}, {"byte_offset": 5}} {
			a, _, data := b.image(name, more)
			block := a["image_block"].(map[string]any)
			if string(data) != files[name] || a["scaled"] != false || block["exact"] != true || block["first_frame"] != nil {
				t.Errorf("%s: not as it is: %v", name, a)
			}
			if width := map[bool]float64{false: 40, true: maxImageSide}[name == "edge"]; a["width"] != width || a["height"] != 30.0 || a["mime_type"] != mime {
				t.Errorf("%s: %v", name, a)
			}
			if a["total_bytes"] != float64(len(files[name])) || a["hash"] != hashOf(files[name]) {
				t.Errorf("%s: %v", name, a)
			}
		}
	}
}

// wantQuadrants checks the colours of an image: of quadrant i those of want[i].
func wantQuadrants(t *testing.T, name string, img image.Image, want string) {
	t.Helper()
	size := img.Bounds().Size()
	for i, letter := range want {
		r, g, b, _ := img.At(size.X/4+i%2*size.X/2, size.Y/4+i/2*size.Y/2).RGBA()
		got := map[[3]bool]rune{{true, false, false}: 'r', {false, true, false}: 'g', {false, false, true}: 'b', {true, true, true}: 'w'}[[3]bool{r > 1<<15, g > 1<<15, b > 1<<15}]
		if got != letter {
			t.Errorf("%s: quadrant %d is %c, want %c", name, i, got, letter)
		}
	}
}

// scaledImage is one over the bounds, and what becomes of it.
type scaledImage struct {
	name, file, mime string
	width, height    int
	scaled           bool
	quadrants        string
}

// TestReadImageScaled: one over the bounds is made smaller, with its colours.
func TestReadImageScaled(t *testing.T) {
	clear := image.NewNRGBA(image.Rect(0, 0, 2100, 10)) // lets everything through
	deep := image.NewNRGBA64(image.Rect(0, 0, 2400, 1200))
	draw.Draw(deep, deep.Rect, quadrants(2400, 1200, false), image.Point{}, draw.Src)
	tests := []scaledImage{
		{"png", pngOf(t, quadrants(2500, 1000, false)), "image/png", 2000, 800, true, "rgbw"},
		{"16 bit", pngOf(t, deep), "image/png", 2000, 1000, true, "rgbw"},
		{"tall", pngOf(t, image.NewGray(image.Rect(0, 0, 1, 20_000))), "image/png", 1, 2000, true, ""},
		{"webp", webpOf(4000, 1000), "image/png", 2000, 500, true, ""},
		{"noise", pngOf(t, quadrants(1150, 1150, true)), "image/jpeg", 1150, 1150, false, ""},
		{"clear", pngOf(t, clear), "image/png", 2000, 10, true, ""},
	}
	if os.Getenv("LOOMD_SOAK") != "" {
		small := image.NewPaletted(image.Rect(0, 0, 2400, 1200), color.Palette{color.White, color.Black})
		tests = append(tests, []scaledImage{
			{"jpeg", jpegOf(t, quadrants(2400, 4000, false)), "image/jpeg", 1200, 2000, true, "rgbw"},
			{"just over", pngOf(t, quadrants(2001, 2001, false)), "image/png", 2000, 2000, true, "rgbw"},
			{"palette", pngOf(t, small), "image/png", 2000, 1000, true, "wwww"},
			{"large noise", pngOf(t, quadrants(2100, 1400, true)), "image/jpeg", 2000, 1333, true, ""},
		}...)
	}
	for _, tt := range tests {
		b := newBench(t, map[string]string{"f": tt.file})
		a, img, _ := b.image("f", nil)
		block := a["image_block"].(map[string]any)
		size := img.Bounds().Size()
		if block["exact"] != false || a["scaled"] != tt.scaled || block["mime_type"] != tt.mime || size != image.Pt(tt.width, tt.height) {
			t.Errorf("%s: %v: %v", tt.name, size, a)
		}
		if (a["hash"] == nil) != (len(tt.file) > wholeRead) {
			t.Errorf("%s: %d bytes, hash %v", tt.name, len(tt.file), a["hash"])
		}
		wantQuadrants(t, tt.name, img, tt.quadrants)
		if _, _, _, alpha := img.At(0, 0).RGBA(); (alpha == 0) != (tt.name == "clear" || tt.name == "webp") {
			t.Errorf("%s: alpha %d", tt.name, alpha)
		}
	}
}

// TestReadImageSaysFirstFrame: of an animation that is too large.
func TestReadImageSaysFirstFrame(t *testing.T) {
	for n, want := range map[int]any{1: nil, 3: true} {
		b := newBench(t, map[string]string{"f": gifOf(t, 2100, 40, n)})
		a, img, _ := b.image("f", nil)
		if block := a["image_block"].(map[string]any); block["first_frame"] != want || block["mime_type"] != "image/png" {
			t.Errorf("%d frames: %v", n, a)
		}
		if red, _, _, _ := img.At(5, 5).RGBA(); red != 0xffff {
			t.Errorf("%d frames: not the first", n)
		}
	}
	b := newBench(t, map[string]string{"f": animatedWebP(2001, 10)})
	b.fails("too_large", "read_file", args{"path": "f"})
}

// withExif puts an orientation into a JPEG.
func withExif(file string, o byte, bigEndian bool) string {
	tiff := "II*\x00\x08\x00\x00\x00\x02\x00" + "\x0f\x01\x02\x00\x02\x00\x00\x00x\x00\x00\x00" + "\x12\x01\x03\x00\x01\x00\x00\x00" + string([]byte{o}) + "\x00\x00\x00" + "\x00\x00\x00\x00"
	if bigEndian {
		tiff = "MM\x00*\x00\x00\x00\x08\x00\x01" + "\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string([]byte{o}) + "\x00\x00" + "\x00\x00\x00\x00"
	}
	segment := "Exif\x00\x00" + tiff
	return file[:2] + "\xff\xe0\x00\x04??" + "\xff\xe1\x00" + string([]byte{byte(len(segment) + 2)}) + segment + file[2:]
}

// TestReadImageTurned: what is encoded anew is upright.
func TestReadImageTurned(t *testing.T) {
	file := jpegOf(t, quadrants(2100, 140, false))
	for o, want := range map[byte]string{
		0: "rgbw", 1: "rgbw", 2: "grwb", 3: "wbgr", 4: "bwrg", 5: "rbgw", 6: "brwg", 7: "wgbr", 8: "gwrb", 9: "rgbw",
	} {
		b := newBench(t, map[string]string{"f": withExif(file, o, o%2 == 0)})
		a, img, _ := b.image("f", nil)
		wantQuadrants(t, string('0'+rune(o)), img, want)
		if wide := img.Bounds().Dx() > img.Bounds().Dy(); wide != (o < 5 || o > 8) {
			t.Errorf("%d: %v", o, a)
		}
	}
}

func FuzzExif(f *testing.F) {
	f.Add([]byte(withExif("\xff\xd8", 6, false)))
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if o := orientationOf(bytes.NewReader(data)); o < 1 || o > 8 {
			t.Error(o)
		}
	})
}

// TestReadImageBomb: what would take gigabytes to decode is refused by its header.
func TestReadImageBomb(t *testing.T) {
	const side = 50_000
	header := pngOf(t, image.NewGray(image.Rect(0, 0, 1, 1)))
	files := map[string]string{
		"png":  pngWithSides(header, side, side),
		"gif":  "GIF89a\x50\xc3\x50\xc3\x00\x00\x00" + ",\x00\x00\x00\x00\x50\xc3\x50\xc3\x00\x02\x00;",
		"jpeg": "\xff\xd8\xff\xc0\x00\x0b\x08\xc3\x50\xc3\x50\x01\x01\x11\x00\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00",
		"webp": webpOf(16_384, 16_384),
	}
	for name, file := range files {
		b := newBench(t, map[string]string{"f": file})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		a := b.fails("too_large", "read_file", args{"path": "f"})
		runtime.ReadMemStats(&after)
		if want := map[bool]float64{false: side, true: 16_384}[name == "webp"]; a["width"] != want || a["height"] != want || a["hint"] == "" || a["mime_type"] != "image/"+name {
			t.Errorf("%s: %v", name, a)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
			t.Errorf("%s: %d MiB allocated", name, used>>20)
		}
	}
}

func TestReadImageDamaged(t *testing.T) {
	picture := quadrants(300, 200, true)
	files := map[string]string{
		"image/png": pngOf(t, picture), "image/jpeg": jpegOf(t, picture), "image/gif": gifOf(t, 300, 200, 1), "image/webp": webpOf(300, 200),
	}
	for mime, file := range files {
		for _, keep := range []int{13, 30, len(file) * 2 / 3} {
			if keep >= len(file) {
				continue
			}
			b := newBench(t, map[string]string{"f": file[:keep]})
			a := b.fails("not_text", "read_file", args{"path": "f"})
			if a["mime_type"] != mime || !strings.Contains(a["message"].(string), "cannot be decoded: ") || a["total_bytes"] != float64(keep) {
				t.Errorf("%s, %d bytes: %v", mime, keep, a)
			}
		}
	}
	b := newBench(t, map[string]string{"f": "GIF89a\x00\x00\x00\x00\x00\x00\x00;"})
	b.fails("not_text", "read_file", args{"path": "f"})
}

// TestReadImageInTheView: what a session proposes is what it sees.
func TestReadImageInTheView(t *testing.T) {
	file := pngOf(t, quadrants(40, 30, false))
	b := newBench(t, map[string]string{"a.png": file, "b.png": file})
	b.ok("move_file", args{"path": "a.png", "to": "new/c.png"})
	if a, _, data := b.image("new/c.png", nil); string(data) != file || a["path"] != "new/c.png" {
		t.Errorf("moved: %v", a)
	}
	b.fails("file_not_found", "read_file", args{"path": "a.png"})
	b.image("b.png", nil)
	b.ok("delete_file", args{"path": "b.png"})
	b.fails("file_not_found", "read_file", args{"path": "b.png"})
	other := &bench{t: t, dir: b.dir, store: b.store, registry: b.registry, view: b.session("other")}
	if _, _, data := other.image("b.png", nil); string(data) != file {
		t.Error("another session does not see the image")
	}
}

// TestReadImageTurns: a large image waits for another one, and not when nobody
// wants it any more.
func TestReadImageTurns(t *testing.T) {
	b := newBench(t, map[string]string{"large": pngOf(t, image.NewGray(image.Rect(0, 0, 2500, 2500))), "few": pngOf(t, image.NewGray(image.Rect(0, 0, 2500, 10)))})
	largeImages <- struct{}{}
	b.image("few", nil)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		_, err := b.registry.Run(ctx, "read_file", "", json.RawMessage(`{"path":"large"}`), Context{View: b.view})
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	<-largeImages
	b.image("large", nil)
}

func TestFitted(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w, h, most := rapid.IntRange(1, 70_000).Draw(r, "width"), rapid.IntRange(1, 70_000).Draw(r, "height"), rapid.IntRange(1, 3000).Draw(r, "most")
		fw, fh := fitted(w, h, most)
		if fw < 1 || fh < 1 || max(fw, fh) != min(most, max(w, h)) || fw > w || fh > h {
			r.Errorf("%d×%d within %d: %d×%d", w, h, most, fw, fh)
		}
		if wrong := float64(fw)*float64(h)/float64(max(w, h)) - float64(fh)*float64(w)/float64(max(w, h)); wrong > 1 || wrong < -1 {
			r.Errorf("%d×%d within %d: %d×%d", w, h, most, fw, fh)
		}
	})
}
