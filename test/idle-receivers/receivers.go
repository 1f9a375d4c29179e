// Servers of Go, each on the port of its variable: NET_HTTP and FASTHTTP. KEY, CERT, and IDLE or none.
package main

import (
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"
)

func main() {
	key, cert := os.Getenv("KEY"), os.Getenv("CERT")
	seconds, _ := strconv.Atoi(os.Getenv("IDLE"))
	idle := time.Duration(seconds) * time.Second

	fast := fasthttp.Server{IdleTimeout: idle, Handler: func(request *fasthttp.RequestCtx) { request.WriteString("ok") }}
	go fast.ListenAndServeTLS("127.0.0.2:"+os.Getenv("FASTHTTP"), cert, key)

	standard := http.Server{Addr: "127.0.0.2:" + os.Getenv("NET_HTTP"), IdleTimeout: idle, Handler: http.HandlerFunc(
		func(answer http.ResponseWriter, _ *http.Request) { answer.Write([]byte("ok")) })}
	panic(standard.ListenAndServeTLS(cert, key))
}
