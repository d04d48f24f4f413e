// Checks of Go's net/http. The environment names HTTP_URL, HTTPS_URL and CA_FILE. Prints a line for each check: state, client,
// check and reason, with tabs between them.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
)

const large = 10 * 1024 * 1024

var (
	httpURL  = os.Getenv("HTTP_URL")
	httpsURL = os.Getenv("HTTPS_URL")
	content  = bytes.Repeat([]byte("sallyport "), large/10+1)[:large]
)

func client(enable func(*http.Protocols)) *http.Client {
	authority, err := os.ReadFile(os.Getenv("CA_FILE"))
	if err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	protocols := new(http.Protocols)
	enable(protocols)
	return &http.Client{
		Timeout: time.Minute,
		Transport: &http.Transport{
			Protocols:             protocols,
			TLSClientConfig:       &tls.Config{RootCAs: roots},
			ExpectContinueTimeout: 30 * time.Second,
		},
	}
}

func http1(protocols *http.Protocols)      { protocols.SetHTTP1(true) }
func http2(protocols *http.Protocols)      { protocols.SetHTTP2(true) }
func http2Clear(protocols *http.Protocols) { protocols.SetUnencryptedHTTP2(true) }

func exchange(c *http.Client, request *http.Request, version int) ([]byte, error) {
	response, err := c.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != 200 || response.ProtoMajor != version {
		return nil, fmt.Errorf("expected 200 over HTTP/%d, got %s over %s", version, response.Status, response.Proto)
	}
	return body, nil
}

func get(c *http.Client, url string, version int) error {
	request, err := http.NewRequest("GET", url, nil)
	if err == nil {
		_, err = exchange(c, request, version)
	}
	return err
}

func keepAlive() error {
	c := client(http1)
	connections := 0
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if !info.Reused {
			connections++
		}
	}}
	for range 10 {
		request, err := http.NewRequestWithContext(httptrace.WithClientTrace(context.Background(), trace), "GET", httpURL, nil)
		if err != nil {
			return err
		}
		if _, err := exchange(c, request, 1); err != nil {
			return err
		}
	}
	if connections != 1 {
		return fmt.Errorf("expected 1 connection, got %d", connections)
	}
	return nil
}

func parallel(c *http.Client, url string) error {
	var group sync.WaitGroup
	failures := make(chan error, 100)
	for range 100 {
		group.Go(func() {
			if err := get(c, url, 2); err != nil {
				failures <- err
			}
		})
	}
	group.Wait()
	close(failures)
	return <-failures
}

// A reader that net/http does not know has no length, so HTTP/1.1 sends it in chunks.
func upload(c *http.Client, body io.Reader, version int, expect bool) error {
	interims := 0
	trace := &httptrace.ClientTrace{Got100Continue: func() { interims++ }}
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(context.Background(), trace), "POST", httpURL, body)
	if err != nil {
		return err
	}
	if expect {
		request.Header.Set("Expect", "100-continue")
	}
	text, err := exchange(c, request, version)
	if err != nil {
		return err
	}
	var seen struct{ Bytes int }
	if err := json.Unmarshal(text, &seen); err != nil {
		return err
	}
	if seen.Bytes != large {
		return fmt.Errorf("expected %d bytes, got %d", large, seen.Bytes)
	}
	if expect && interims != 1 {
		return fmt.Errorf("expected 100 Continue once, got it %d times", interims)
	}
	return nil
}

func download(c *http.Client, version int) error {
	request, err := http.NewRequest("GET", fmt.Sprintf("%s/bytes/%d", httpURL, large), nil)
	if err != nil {
		return err
	}
	body, err := exchange(c, request, version)
	if err == nil && !bytes.Equal(body, content) {
		err = fmt.Errorf("the content differs; it has %d bytes", len(body))
	}
	return err
}

func main() {
	checks := []struct {
		name string
		run  func() error
	}{
		{"HTTP/1.1", func() error { return get(client(http1), httpURL, 1) }},
		{"HTTPS", func() error { return get(client(http1), httpsURL, 1) }},
		{"HTTP/2, prior knowledge", func() error { return parallel(client(http2Clear), httpURL) }},
		{"HTTP/2, TLS", func() error { return parallel(client(http2), httpsURL) }},
		{"keep-alive", keepAlive},
		{"upload of 10 MiB", func() error { return upload(client(http1), bytes.NewReader(content), 1, false) }},
		{"chunked upload of 10 MiB", func() error { return upload(client(http1), io.LimitReader(bytes.NewReader(content), large), 1, false) }},
		{"Expect: 100-continue", func() error { return upload(client(http1), bytes.NewReader(content), 1, true) }},
		{"download of 10 MiB", func() error { return download(client(http1), 1) }},
		{"upload of 10 MiB, HTTP/2", func() error { return upload(client(http2Clear), bytes.NewReader(content), 2, false) }},
		{"Expect: 100-continue, HTTP/2", func() error { return upload(client(http2Clear), bytes.NewReader(content), 2, true) }},
		{"download of 10 MiB, HTTP/2", func() error { return download(client(http2Clear), 2) }},
	}
	name := "Go " + strings.TrimPrefix(runtime.Version(), "go") + " net/http"
	for _, check := range checks {
		if err := check.run(); err != nil {
			fmt.Printf("failed\t%s\t%s\t%q\n", name, check.name, err.Error())
		} else {
			fmt.Printf("ok\t%s\t%s\n", name, check.name)
		}
	}
}
