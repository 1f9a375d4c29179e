package webhook_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	webhook "partner-api.example/webhook"
)

type vector struct {
	Name    string
	Secrets []string
	Headers [][2]string
	Body    string
	Repeat  int
	Now     int64
	Verdict webhook.Verdict
}

// VECTORS names the file of vectors.
func vectors(t *testing.T) []vector {
	text, err := os.ReadFile(os.Getenv("VECTORS"))
	var file struct{ Cases []vector }
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil || len(file.Cases) == 0 {
		t.Fatal("no vectors: ", err)
	}
	return file.Cases
}

func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			body, err := base64.StdEncoding.DecodeString(v.Body)
			if err != nil {
				t.Fatal(err)
			}
			header := http.Header{}
			for _, line := range v.Headers {
				header.Add(line[0], line[1])
			}
			got := webhook.Verify(v.Secrets, header, bytes.Repeat(body, v.Repeat), time.UnixMilli(v.Now))
			if got != v.Verdict {
				t.Errorf("%s, not %s", got, v.Verdict)
			}
		})
	}
}

func panicOf(call func()) (fault string) {
	defer func() { fault, _ = recover().(string) }()
	call()
	return ""
}

func TestMistakesPanicAndSayWhatToPass(t *testing.T) {
	now, secrets, header := time.UnixMilli(1), []string{"whsec_x"}, http.Header{"X-Vc-Timestamp": {"1"}}
	header.Set("X-Vc-Signature", "sha256=00")
	read := header.Clone()
	read.Set("Content-Length", "231")
	for says, call := range map[string]func(){
		"secret is missing":  func() { webhook.Verify(nil, header, []byte("{}"), now) },
		"secret is empty":    func() { webhook.Verify([]string{"whsec_x", ""}, header, []byte("{}"), now) },
		"a quote surrounds":  func() { webhook.Verify([]string{`"whsec_x"`}, header, []byte("{}"), now) },
		"white space or":     func() { webhook.Verify([]string{"whsec_x\n"}, header, []byte("{}"), now) },
		"as issued, from":    func() { webhook.Verify([]string{"x"}, header, []byte("{}"), now) },
		"to its end":         func() { webhook.Verify([]string{"whsec_x,whsec_y"}, header, []byte("{}"), now) },
		"pass r.Header":      func() { webhook.Verify(secrets, nil, []byte("{}"), now) },
		"pass time.Now()":    func() { webhook.Verify(secrets, header, []byte("{}"), time.Time{}) },
		"it was read or": func() { webhook.Verify(secrets, read, nil, now) },
		"parsed before":  func() { webhook.Verify(secrets, read, make([]byte, 232), now) },
	} {
		if fault := panicOf(call); !strings.Contains(fault, says) {
			t.Errorf("%q does not say %q", fault, says)
		}
	}
}

func TestABodyInBase64Panics(t *testing.T) {
	v := vectors(t)[0]
	header := http.Header{}
	for _, line := range v.Headers {
		header.Add(line[0], line[1])
	}
	verify := func(body string) { webhook.Verify(v.Secrets, header, []byte(body), time.UnixMilli(v.Now)) }
	if fault := panicOf(func() { verify(v.Body) }); !strings.Contains(fault, "in base64: decode it first") {
		t.Error(fault)
	}
	if fault := panicOf(func() { verify("e" + v.Body) }); fault != "" {
		t.Error(fault)
	}
}

func TestNoDeliveryPanics(t *testing.T) {
	for _, more := range []http.Header{{}, {"Content-Length": {"0"}}, {"Content-Length": {"-1"}}, {"Content-Length": {"20"}, "Content-Encoding": {"gzip"}}} {
		header := more.Clone()
		header.Set("X-VC-Timestamp", "1")
		header.Set("X-VC-Signature", "sha256=00")
		if got := webhook.Verify([]string{"whsec_x"}, header, []byte{}, time.UnixMilli(1)); got != webhook.Forged {
			t.Error(got)
		}
	}
	limited := http.Header{"X-Vc-Timestamp": {"1"}, "X-Vc-Signature": {"sha256=00"}, "Content-Length": {"20"}}
	if got := webhook.Verify([]string{"whsec_x"}, limited, []byte("{}"), time.UnixMilli(1)); got != webhook.Forged {
		t.Error(got)
	}
}

func TestHeadersInAnyLetterCase(t *testing.T) {
	v := vectors(t)[0]
	body, _ := base64.StdEncoding.DecodeString(v.Body)
	header := http.Header{}
	for _, line := range v.Headers {
		header[strings.ToLower(line[0])] = []string{line[1]}
	}
	if got := webhook.Verify(v.Secrets, header, body, time.UnixMilli(v.Now)); got != webhook.Valid {
		t.Error(got)
	}
}
