import{M,Ae,Ye}from"/console/assets/main-ddjtfch0.js";var r=1e6;function at(o,u,f){let{input_mtok:t,output_mtok:e}=o??{};if(typeof t!=="number")return;let n=Ye(M(t),u,r);if(typeof e!=="number")return n;return Ae(n,Ye(M(e),f,r))}
export{at};
