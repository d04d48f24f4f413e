// Command authorizer is an authorization server of its own: the protocol and the messages are those of go-control-plane and grpc-go.
//
// It permits requests with the header "authorization: Bearer good", and answers others as their path asks for. Each request that it
// sees is one line of JSON on standard output, in the form of protojson.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"strings"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	envoy "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	rpc "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

type server struct {
	auth.UnimplementedAuthorizationServer
}

func header(key, value string, appends *wrapperspb.BoolValue) *core.HeaderValueOption {
	return &core.HeaderValueOption{Header: &core.HeaderValue{Key: key, Value: value}, Append: appends}
}

func (server) Check(_ context.Context, request *auth.CheckRequest) (*auth.CheckResponse, error) {
	line, err := protojson.Marshal(request)
	if err != nil {
		return nil, err
	}
	fmt.Println(string(line))
	http := request.GetAttributes().GetRequest().GetHttp()
	switch path := http.GetPath(); {
	case strings.HasPrefix(path, "/unavailable"):
		return nil, status.Error(codes.Unavailable, "not now")
	case strings.HasPrefix(path, "/empty"):
		return &auth.CheckResponse{}, nil
	case http.GetHeaders()["authorization"] == "Bearer good":
		ok := &auth.OkHttpResponse{
			Headers:              []*core.HeaderValueOption{header("x-user", "ann", nil), header("x-group", "one", wrapperspb.Bool(true))},
			HeadersToRemove:      []string{"authorization"},
			ResponseHeadersToAdd: []*core.HeaderValueOption{header("set-cookie", "a=1", nil), header("set-cookie", "b=2", nil)},
		}
		return &auth.CheckResponse{Status: &rpc.Status{Code: int32(codes.OK)}, HttpResponse: &auth.CheckResponse_OkResponse{OkResponse: ok}}, nil
	case strings.HasPrefix(path, "/plain"):
		return &auth.CheckResponse{Status: &rpc.Status{Code: int32(codes.PermissionDenied)}}, nil
	default:
		denied := &auth.DeniedHttpResponse{
			Status:  &envoy.HttpStatus{Code: envoy.StatusCode_Unauthorized},
			Headers: []*core.HeaderValueOption{header("www-authenticate", `Basic realm="a"`, nil), header("set-cookie", "a=1", nil), header("set-cookie", "b=2", nil)},
			Body:    "log in: ü",
		}
		return &auth.CheckResponse{Status: &rpc.Status{Code: int32(codes.Unauthenticated)}, HttpResponse: &auth.CheckResponse_DeniedResponse{DeniedResponse: denied}}, nil
	}
}

func main() {
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	service := grpc.NewServer()
	auth.RegisterAuthorizationServer(service, server{})
	log.Fatal(service.Serve(listener))
}
